//! Lines over time as an SVG picture.

use plotters::prelude::*;
use tsloom::model::TimeRange;

use crate::text::time;

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 500;
/// Columns of pixels that lines have.
pub(super) const COLUMNS: usize = 1100;

/// One line.
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Vec<(i64, f64)>,
}

/// The picture as text.
pub(super) fn svg(title: &str, lines: &[Line], range: TimeRange) -> Result<String, String> {
    let mut text = String::new();
    draw(&mut text, title, lines, range).map_err(|error| error.to_string())?;
    Ok(text)
}

fn draw(text: &mut String, title: &str, lines: &[Line], range: TimeRange) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(text, (WIDTH, HEIGHT)).into_drawing_area();
    area.fill(&WHITE)?;
    let (least, greatest) = bounds(lines);
    // As floating numbers: a range of all times there are has no width as an integer.
    let (start, end) = (range.start as f64, (range.end as f64).max(range.start as f64 + 1.0));
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(70)
        .build_cartesian_2d(start..end, least..greatest)?;
    chart.configure_mesh().x_labels(6).y_labels(8).light_line_style(WHITE).x_label_formatter(&|at| label(*at)).draw()?;
    for (index, line) in lines.iter().enumerate() {
        let colour = Palette99::pick(index).mix(1.0);
        let points: Vec<(f64, f64)> = line.points.iter().map(|(time, value)| (*time as f64, *value)).collect();
        // A single value would be a line without length.
        if let [point] = points[..] {
            chart.draw_series(std::iter::once(Circle::new(point, 3, colour.filled())))?;
        }
        chart
            .draw_series(std::iter::once(PathElement::new(points, colour.stroke_width(1))))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(2)));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK.mix(0.3)).draw()?;
    area.present()?;
    Ok(())
}

/// From the least to the greatest value, with some room; never nothing.
fn bounds(lines: &[Line]) -> (f64, f64) {
    let values = lines.iter().flat_map(|line| &line.points).map(|(_, value)| *value);
    let (least, greatest) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    if least > greatest {
        return (0.0, 1.0);
    }
    // Halves, since the whole span of the greatest numbers is infinite.
    let room = ((greatest / 2.0 - least / 2.0) * 0.1).max(greatest.abs().max(1.0) * 1e-9);
    ((least - room).max(f64::MIN / 4.0), (greatest + room).min(f64::MAX / 4.0))
}

fn label(at: f64) -> String {
    let mut text = Vec::new();
    time::push_rfc3339(&mut text, at as i64);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_room() {
        let line = |values: &[f64]| [Line { name: String::new(), points: values.iter().map(|value| (0, *value)).collect() }];
        assert_eq!(bounds(&line(&[])), (0.0, 1.0));
        for values in [&[5.0][..], &[0.0, 0.0], &[-1e300, 1e300], &[f64::MAX, f64::MIN]] {
            let (least, greatest) = bounds(&line(values));
            assert!(least < greatest && (greatest - least).is_finite(), "{values:?}: {least} {greatest}");
        }
    }
}
