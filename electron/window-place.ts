/** Where on which display the window opens. Pure. */
import type { Rectangle } from 'electron';

interface Place extends Rectangle {}

const size = { width: 420, height: 640 };
const gap = 8;

/**
 * As it was left on that display, as far as it still fits in; else at the tray: below one at the top, above one at the
 * bottom, beside one at a side. Where the tray does not say where it is (Linux), in the corner where trays are.
 *
 * @param tray null, or empty: it does not say
 * @param workArea of the display, without the bars of the system
 */
export function placeWindow(tray: Rectangle | null, workArea: Rectangle, remembered?: Rectangle): Place {
  if (remembered) return fitInto(workArea, remembered);
  if (!tray || tray.width === 0) {
    return fitInto(workArea, { ...size, x: workArea.x + workArea.width - size.width - gap, y: workArea.y + gap });
  }
  const isAbove = tray.y + tray.height <= workArea.y + workArea.height / 2;
  return fitInto(workArea, {
    ...size,
    x: Math.round(tray.x + tray.width / 2 - size.width / 2),
    y: isAbove ? tray.y + tray.height + gap : tray.y - size.height - gap,
  });
}

function fitInto(area: Rectangle, wanted: Rectangle): Place {
  const width = Math.min(wanted.width, area.width);
  const height = Math.min(wanted.height, area.height);
  return {
    width,
    height,
    x: Math.min(Math.max(wanted.x, area.x), area.x + area.width - width),
    y: Math.min(Math.max(wanted.y, area.y), area.y + area.height - height),
  };
}
