import { every } from '../ground/timers.ts';

interface Watched<Value> {
  everyMs: number;
  read(): Value;
  /** Values with equal texts are considered equal. Absent: their JSON is used. */
  fingerprint?(value: Value): string;
}

/** Polls a value and reports it whenever it has changed. Returns the function that stops polling. */
export function watchValue<Value>(watched: Watched<Value>, emit: (value: Value) => void): () => void {
  const { everyMs, read, fingerprint = JSON.stringify } = watched;
  let last = fingerprint(read());
  const timer = every(() => {
    const value = read();
    const text = fingerprint(value);
    if (text === last) return;
    last = text;
    emit(value);
  }, everyMs).unref();
  return () => clearInterval(timer);
}
