/** The contents of the frames in AWS's event streams, for each of Bedrock's operations. */
import { isObject } from '../../../contract/is-object.ts';

/** The content type of a stream of frames. */
export const frames = 'application/vnd.amazon.eventstream';

/** Writes the content of one frame as a server-sent event. */
export interface FrameFormat {
  /**
   * Returns the function that converts payloads of this type to events. It returns an empty string if clients need not
   * receive the event, and null if the payload cannot be parsed.
   */
  eventWriter(type: string): (payload: Buffer) => string | null;
  /** @param name for example `throttlingException` */
  exception(name: string, message: string): string;
}

/** Empty if the bytes are not a JSON object. */
export function objectIn(json: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json.toString('utf8'));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/**
 * JSON on one line. A line break between members would end the `data:` line. Within strings, JSON has line breaks
 * escaped.
 */
export function onOneLine(json: Buffer): string {
  const text = json.toString('utf8');
  const hasBreaks = text.includes('\n') || text.includes('\r');
  return hasBreaks ? JSON.stringify(objectIn(json)) : text;
}
