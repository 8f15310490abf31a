/** Short enough to look live. Under a flood of events, it leaves nine frames in ten to scrolling and typing. */
const shortestPauseMs = 150;
let lastFrameAt = Number.NEGATIVE_INFINITY;

/** Calls back in the next frame, or later if something was drawn a moment ago. */
export function onNextFrame(callback: () => void): void {
  const draw = () =>
    requestAnimationFrame((now) => {
      lastFrameAt = now;
      callback();
    });
  const pauseMs = lastFrameAt + shortestPauseMs - performance.now();
  if (pauseMs > 0) setTimeout(draw, pauseMs);
  else draw();
}
