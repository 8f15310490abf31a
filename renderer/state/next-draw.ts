/** Short enough to look live. Under a flood of events, it leaves nine frames in ten to scrolling and typing. */
const shortestPauseMs = 150;
let lastDrawnAt = Number.NEGATIVE_INFINITY;

/** Calls back in the next frame, or later if something was drawn a moment ago. */
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
