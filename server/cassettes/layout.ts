/**
 * Formats a recorded exchange so that it can be read and compared line by line: indented JSON, but one line for each
 * event of a stream.
 */
import type { RecordedExchange } from './format.ts';

const step = '  ';

export function formatExchange(exchange: RecordedExchange): string {
  return `${write(exchange, '')}\n`;
}

function write(value: unknown, margin: string, name = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = margin + step;
  const areLines = name === 'events';
  const parts = Array.isArray(value)
    ? value.map((item) => (areLines ? JSON.stringify(item) : write(item, inner)))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${JSON.stringify(key)}: ${write(item, inner, key)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return parts.length === 0
    ? `${open}${close}`
    : `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${margin}${close}`;
}
