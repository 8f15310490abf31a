import { describe, expect, it } from 'vitest';
import { computeWindowBounds } from '../../electron/window-bounds.ts';

const workArea = { x: 0, y: 25, width: 1440, height: 875 };

describe('the place of the window', () => {
  it('is below a tray at the top, in its middle', () => {
    const tray = { x: 900, y: 0, width: 24, height: 25 };
    expect(computeWindowBounds(tray, workArea)).toEqual({ x: 702, y: 33, width: 420, height: 640 });
  });

  it('is above a tray at the bottom, and within the display', () => {
    const bottom = { x: 0, y: 0, width: 1280, height: 760 };
    const tray = { x: 1250, y: 766, width: 24, height: 24 };
    expect(computeWindowBounds(tray, bottom)).toEqual({ x: 860, y: 118, width: 420, height: 640 });
  });

  it('is on the display of the tray, wherever that lies', () => {
    const left = { x: -1920, y: 0, width: 1920, height: 1040 };
    const tray = { x: -40, y: 1044, width: 24, height: 24 };
    expect(computeWindowBounds(tray, left)).toEqual({ x: -420, y: 396, width: 420, height: 640 });
  });

  it('is in the corner where trays usually are, if the tray does not report its position', () => {
    const corner = { x: 1012, y: 33, width: 420, height: 640 };
    expect(computeWindowBounds(null, workArea)).toEqual(corner);
    expect(computeWindowBounds({ x: 0, y: 0, width: 0, height: 0 }, workArea)).toEqual(corner);
  });

  it('is where it was left, as far as that still fits on the display', () => {
    expect(computeWindowBounds(null, workArea, { x: 100, y: 90, width: 900, height: 700 })).toEqual({
      ...{ x: 100, y: 90, width: 900, height: 700 },
    });
    expect(computeWindowBounds(null, workArea, { x: 1400, y: -50, width: 2000, height: 700 })).toEqual({
      ...{ x: 0, y: 25, width: 1440, height: 700 },
    });
  });
});
