/** So soon after a change of state it is told; many come together. */
const stateMs = 300;
/** Measurements change with each request, and nobody reads them that fast. */
const measurementMs = 5_000;

interface HealthTeller {
  changed(providerId: string, isState: boolean): void;
  stop(): void;
}

/** Tells of a provider's health at most every now and then, and always of how it is at last. */
export function createHealthTeller(tell: (providerId: string) => void): HealthTeller {
  const waiting = new Map<string, { timer: NodeJS.Timeout; isState: boolean }>();
  return {
    changed(providerId, isState) {
      const before = waiting.get(providerId);
      if (before && (before.isState || !isState)) return;
      clearTimeout(before?.timer);
      const timer = setTimeout(
        () => {
          waiting.delete(providerId);
          tell(providerId);
        },
        isState ? stateMs : measurementMs,
      ).unref();
      waiting.set(providerId, { timer, isState });
    },
    stop() {
      for (const { timer } of waiting.values()) clearTimeout(timer);
      waiting.clear();
    },
  };
}
