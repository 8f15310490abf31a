/** Inputs for the official client. */
export const input = 'Hi';

export const model = 'gpt-x';

export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const events: T[] = [];
  for await (const event of stream) events.push(event);
  return events;
}
