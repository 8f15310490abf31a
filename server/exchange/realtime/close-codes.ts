/** Maps the close of one WebSocket to a close frame for the other (RFC 6455, 7.4). */

/** Maximum length of a close frame's reason, in UTF-8 bytes. */
const maxReasonBytes = 123;

/** Codes that only describe locally how a connection ended; they must not be sent in a frame. */
export const closedWithoutCode = 1005;
export const closedAbnormally = 1006;

export const goingAway = 1001;
export const refusedByPolicy = 1008;
export const failedInside = 1011;

/** The contents of a close frame; without a code the frame is empty. */
export interface CloseFrame {
  code: number | undefined;
  reason: string;
}

export const emptyCloseFrame: CloseFrame = { code: undefined, reason: '' };

/** Converts the close frame that a peer sent. `redacted` removes secrets from its reason. */
export function closeFrameOf(code: number, reason: Buffer, redacted: (text: string) => string): CloseFrame {
  return isSendable(code) ? { code, reason: shortened(redacted(reason.toString())) } : emptyCloseFrame;
}

/** Truncates a reason to the length that a close frame can hold, at a character boundary. */
export function shortened(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.length <= maxReasonBytes) return reason;
  let end = maxReasonBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

function isSendable(code: number): boolean {
  if (code >= 3000) return code <= 4999;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== closedWithoutCode && code !== closedAbnormally;
}
