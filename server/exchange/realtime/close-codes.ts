/** How a WebSocket's end is told on the other one (RFC 6455, 7.4). */

/** The most bytes that a close frame has for its reason. */
const maxReasonBytes = 123;

/** Codes that say how a connection ended, and never stand in a frame. */
export const closedWithoutCode = 1005;
export const closedAbnormally = 1006;

export const goingAway = 1001;
export const refusedByPolicy = 1008;
export const failedInside = 1011;

/** What a close frame says. Without a code it says nothing. */
export interface Farewell {
  code: number | undefined;
  reason: string;
}

export const silentFarewell: Farewell = { code: undefined, reason: '' };

/** The farewell that a peer sent. `redacted` removes secrets from its reason. */
export function farewellOf(code: number, reason: Buffer, redacted: (text: string) => string): Farewell {
  return isSendable(code) ? { code, reason: shortened(redacted(reason.toString())) } : silentFarewell;
}

/** A reason as long as a close frame can hold, cut between two characters. */
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
