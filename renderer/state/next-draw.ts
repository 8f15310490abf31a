/** Often enough to look live, and a flood of events leaves nine frames in ten to scrolling and typing. */
const shortestPauseMs = 150;
let lastDrawnAt = Number.NEGATIVE_INFINITY;

/** Calls back with the next frame, or later where something was drawn a moment ago. */
export function nextDraw(callback: () => void): void {
  const draw = () =>
    requestAnimationFrame((now) => {
      lastDrawnAt = now;
      callback();
    });
  const pauseMs = lastDrawnAt + shortestPauseMs - performance.now();
  if (pauseMs > 0) setTimeout(draw, pauseMs);
  else draw();
}
