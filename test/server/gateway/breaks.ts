/** What the client receives when a stream breaks off, listed for each of the samples. */

export type Break = 'the connection breaks' | 'the stream just ends';

/**
 * `early`: nothing has been sent, and the answer is an error. `broken`: content has been sent, followed by an error.
 * `whole`: the stream is complete. `unreadable`: bytes after a stream's end are passed on unchanged, and the official
 * client fails at half of a `[DONE]`, as it does without Sluice.
 */
type End = 'early' | 'broken' | 'whole' | 'unreadable';

/**
 * If the upstream has sent at least this many bytes: the number of events that the client receives (without `[DONE]`),
 * and how the stream ends.
 */
export type Outcome = [fromByte: number, events: number, end: End];

const chatMessage: Outcome[] = [
  [0, 0, 'early'],
  // The first chunk has no content, and is held until one with content follows.
  [448, 2, 'broken'],
  [654, 3, 'broken'],
];
const tools: Outcome[] = [
  [0, 0, 'early'],
  [369, 2, 'broken'],
  [641, 3, 'broken'],
  [874, 4, 'broken'],
  [1143, 5, 'broken'],
  [1378, 6, 'broken'],
];
const completions: Outcome[] = [
  [0, 0, 'early'],
  [123, 1, 'broken'],
];
const response: Outcome[] = [
  [0, 0, 'early'],
  [644, 3, 'broken'],
  [838, 4, 'broken'],
  [1018, 5, 'broken'],
  [1199, 6, 'broken'],
  [1366, 7, 'broken'],
  [1582, 8, 'broken'],
  [1844, 9, 'broken'],
];
/** One byte more per line; each event is complete with the CR of its last line end. */
const crlfResponse: Outcome[] = [
  [0, 0, 'early'],
  [652, 3, 'broken'],
  [849, 4, 'broken'],
  [1032, 5, 'broken'],
  [1216, 6, 'broken'],
  [1386, 7, 'broken'],
  [1605, 8, 'broken'],
  [1870, 9, 'broken'],
];
const inPieces = (...places: number[]): Outcome[] => [
  [0, 0, 'early'],
  ...places.map((place, index): Outcome => [place, index + 1, 'broken']),
];

/** A chat stream is whole once each choice has its `finish_reason`, a stream of typed events with its last event. */
const connectionBreaks: Record<string, Outcome[]> = {
  'chat with usage': [...chatMessage, [838, 4, 'whole'], [1113, 5, 'whole']],
  'chat with tools, reasoning and the first chunk of Azure': [...tools, [1581, 7, 'whole']],
  'chat with CRLF and several lines of data': [
    [0, 0, 'early'],
    [143, 1, 'whole'],
  ],
  // No blank line follows its `[DONE]`.
  'chat with comments, ids, no space after the colon and no last blank line': [...inPieces(227), [405, 2, 'whole']],
  completions: [...completions, [245, 2, 'whole']],
  'responses in full order': [...response, [2354, 10, 'whole']],
  'responses with [DONE]': [...crlfResponse, [2383, 10, 'whole']],
  images: [...inPieces(171), [380, 2, 'whole']],
  'image edits': [...inPieces(159), [356, 2, 'whole']],
  'transcription without event lines': [...inPieces(57, 114), [255, 3, 'whole']],
  speech: [...inPieces(82, 160), [284, 3, 'whole']],
};

/**
 * A clean end replaces a missing `[DONE]` once each choice has its `finish_reason`, and the blank line after the last
 * event.
 */
const streamJustEnds: Record<string, Outcome[]> = {
  'chat with usage': [...chatMessage, [836, 4, 'whole'], [1111, 5, 'whole']],
  'chat with tools, reasoning and the first chunk of Azure': [...tools, [1579, 7, 'whole']],
  'chat with CRLF and several lines of data': [
    [0, 0, 'early'],
    [140, 1, 'whole'],
  ],
  'chat with comments, ids, no space after the colon and no last blank line': [...inPieces(227), [403, 2, 'whole']],
  completions: [...completions, [243, 2, 'whole']],
  'responses in full order': [...response, [2352, 10, 'whole']],
  'responses with [DONE]': [...crlfResponse, [2380, 10, 'whole'], [2388, 10, 'unreadable'], [2396, 10, 'whole']],
  images: [...inPieces(171), [378, 2, 'whole']],
  'image edits': [...inPieces(159), [354, 2, 'whole']],
  'transcription without event lines': [...inPieces(57, 114), [253, 3, 'whole']],
  speech: [...inPieces(82, 160), [282, 3, 'whole']],
};

export const outcomes: Record<Break, Record<string, Outcome[]>> = {
  'the connection breaks': connectionBreaks,
  'the stream just ends': streamJustEnds,
};
