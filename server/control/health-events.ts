/** Delay after a change of state, to combine several changes. */
import { after } from '../ground/timers.ts';

const stateMs = 300;
/** Delay after new measurements, which arrive with each request. */
const measurementMs = 5_000;

interface HealthEvents {
  changed(providerId: string, isState: boolean): void;
  stop(): void;
}

/** Reports changes of a provider's health at a limited rate; the final state is always reported. */
export function createHealthEvents(emit: (providerId: string) => void): HealthEvents {
  const waiting = new Map<string, { timer: NodeJS.Timeout; isState: boolean }>();
  return {
    changed(providerId, isState) {
      const before = waiting.get(providerId);
      if (before && (before.isState || !isState)) return;
      clearTimeout(before?.timer);
      const timer = after(
        () => {
          waiting.delete(providerId);
          emit(providerId);
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
