/** Computes where the window opens on a display. Pure. */
import type { Rectangle } from 'electron';

const size = { width: 420, height: 640 };
const gap = 8;

/**
 * Uses the remembered bounds for this display, moved or shrunk to fit. Otherwise the window opens next to the tray: below
 * a tray at the top, above one at the bottom. If the position of the tray is unknown (Linux), it opens in the top right
 * corner, where trays usually are.
 *
 * @param tray bounds of the tray icon; null or empty if unknown
 * @param workArea the display without taskbar and dock
 */
export function computeWindowBounds(tray: Rectangle | null, workArea: Rectangle, remembered?: Rectangle): Rectangle {
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

function fitInto(area: Rectangle, bounds: Rectangle): Rectangle {
  const width = Math.min(bounds.width, area.width);
  const height = Math.min(bounds.height, area.height);
  return {
    width,
    height,
    x: Math.min(Math.max(bounds.x, area.x), area.x + area.width - width),
    y: Math.min(Math.max(bounds.y, area.y), area.y + area.height - height),
  };
}
