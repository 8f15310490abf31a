import { describe, expect, it } from 'vitest';
import { computePanelBounds, computeWindowBounds } from '../../electron/window-bounds.ts';

const workArea = { x: 0, y: 25, width: 1440, height: 875 };

describe('the place of the main window', () => {
  it('is the middle of the display, wherever that lies', () => {
    expect(computeWindowBounds(workArea)).toEqual({ x: 130, y: 73, width: 1180, height: 780 });
    const left = { x: -1920, y: 0, width: 1920, height: 1040 };
    expect(computeWindowBounds(left)).toEqual({ x: -1550, y: 130, width: 1180, height: 780 });
  });

  it('is the whole of a display that is smaller', () => {
    const small = { x: 0, y: 30, width: 1024, height: 700 };
    expect(computeWindowBounds(small)).toEqual(small);
  });

  it('is where it was left, as far as that still fits on the display', () => {
    expect(computeWindowBounds(workArea, { x: 100, y: 90, width: 900, height: 700 })).toEqual({
      ...{ x: 100, y: 90, width: 900, height: 700 },
    });
    expect(computeWindowBounds(workArea, { x: 1400, y: -50, width: 2000, height: 700 })).toEqual({
      ...{ x: 0, y: 25, width: 1440, height: 700 },
    });
  });
});

describe('the place of the panel', () => {
  it('is below a tray at the top, in its middle', () => {
    const tray = { x: 900, y: 0, width: 24, height: 25 };
    expect(computePanelBounds(tray, workArea)).toEqual({ x: 732, y: 33, width: 360, height: 520 });
  });

  it('is above a tray at the bottom, and within the display', () => {
    const bottom = { x: 0, y: 0, width: 1280, height: 760 };
    const tray = { x: 1250, y: 766, width: 24, height: 24 };
    expect(computePanelBounds(tray, bottom)).toEqual({ x: 920, y: 238, width: 360, height: 520 });
  });

  it('is beside a bar at the left or right', () => {
    const beside = { x: 60, y: 0, width: 1380, height: 900 };
    expect(computePanelBounds({ x: 18, y: 850, width: 24, height: 24 }, beside)).toMatchObject({ x: 60, y: 322 });
    const right = { x: 0, y: 0, width: 1380, height: 900 };
    expect(computePanelBounds({ x: 1398, y: 850, width: 24, height: 24 }, right)).toMatchObject({ x: 1020, y: 322 });
  });

  it('is on the display of the tray, wherever that lies', () => {
    const left = { x: -1920, y: 0, width: 1920, height: 1040 };
    const tray = { x: -40, y: 1044, width: 24, height: 24 };
    expect(computePanelBounds(tray, left)).toEqual({ x: -360, y: 516, width: 360, height: 520 });
  });

  it('is in the corner where trays usually are, if the tray does not report its position', () => {
    const corner = { x: 1072, y: 33, width: 360, height: 520 };
    expect(computePanelBounds(null, workArea)).toEqual(corner);
    expect(computePanelBounds({ x: 0, y: 0, width: 0, height: 0 }, workArea)).toEqual(corner);
  });
});
