/**
 * Frames of InvokeModelWithResponseStream for Claude. A `chunk` contains `{"bytes":"…"}`, an event of Anthropic's API
 * in base64. Source: Amazon Bedrock API reference, `ResponseStream`.
 */
import { writeClaudeError } from '../../core/dialects/hosted-claude.ts';
import { exceptionType } from './exceptions.ts';
import { type FrameFormat, objectIn, onOneLine } from './frames.ts';

export const claudeFrames: FrameFormat = {
  eventWriter: () => writeEvent,
  exception: (name, message) =>
    `event: error\ndata: ${writeClaudeError(exceptionType(name, message) ?? 'api_error', message)}\n\n`,
};

function writeEvent(payload: Buffer): string | null {
  const { bytes } = objectIn(payload);
  return typeof bytes === 'string' ? eventOf(Buffer.from(bytes, 'base64')) : '';
}

/** The name of an event is its type. */
function eventOf(json: Buffer): string | null {
  const { type } = objectIn(json);
  return typeof type === 'string' ? `event: ${type}\ndata: ${onOneLine(json)}\n\n` : null;
}
