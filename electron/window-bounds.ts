/** Computes where the windows open on a display. Pure. */
import type { Rectangle } from 'electron';

const size = { width: 1180, height: 780 };

/**
 * Uses the remembered bounds for this display, moved or shrunk to fit. Otherwise the main window opens in the middle.
 *
 * @param workArea the display without taskbar and dock
 */
export function computeWindowBounds(workArea: Rectangle, remembered?: Rectangle): Rectangle {
  return fitInto(workArea, remembered ?? centred(workArea));
}

const panelSize = { width: 360, height: 520 };
const gap = 8;

/**
 * The panel opens at the tray icon: below a bar at the top, above one at the bottom, beside one at the left or right. If
 * the position of the icon is unknown, it opens in the top right corner, where trays usually are.
 *
 * @param tray bounds of the tray icon; null or empty if unknown
 * @param workArea the display without taskbar and dock
 */
export function computePanelBounds(tray: Rectangle | null, workArea: Rectangle): Rectangle {
  const right = workArea.x + workArea.width;
  if (!tray || tray.width === 0) {
    return fitInto(workArea, { ...panelSize, x: right - panelSize.width - gap, y: workArea.y + gap });
  }
  const isAbove = tray.y + tray.height <= workArea.y + workArea.height / 2;
  return fitInto(workArea, {
    ...panelSize,
    x: Math.round(tray.x + tray.width / 2 - panelSize.width / 2),
    y: isAbove ? tray.y + tray.height + gap : tray.y - panelSize.height - gap,
  });
}

function centred(area: Rectangle): Rectangle {
  return {
    ...size,
    x: Math.round(area.x + (area.width - size.width) / 2),
    y: Math.round(area.y + (area.height - size.height) / 2),
  };
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
