/** What the frames of AWS's event streams hold, for each of Bedrock's operations. */
import { isObject } from '../../contract/is-object.ts';

/** The content type of streams of frames. */
export const frames = 'application/vnd.amazon.eventstream';

/** Writes what one frame holds as a server-sent event. */
export interface FrameFormat {
  /**
   * How events of this type are written: from the payload to the event. Empty if a client need not know of it; null if it
   * cannot be read.
   */
  eventWriter(type: string): (payload: Buffer) => string | null;
  /** @param name such as `throttlingException` */
  exception(name: string, message: string): string;
}

/** Empty if the bytes are no JSON object. */
export function objectIn(json: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json.toString('utf8'));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** JSON on one line. Breaks between members would end a line of data; within a string, JSON has them escaped. */
export function onOneLine(json: Buffer): string {
  const text = json.toString('utf8');
  const hasBreaks = text.includes('\n') || text.includes('\r');
  return hasBreaks ? JSON.stringify(objectIn(json)) : text;
}
