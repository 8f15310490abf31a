/** What is said in every conversation of the matrix: five turns, each with two calls at once and their results. */

export const turns = [1, 2, 3, 4, 5] as const;

/** The tools of the conversation, and the parameter that each takes. */
export const tools = [
  { name: 'weather', about: 'The weather of a place', parameter: 'place' },
  { name: 'picture', about: 'A picture of a place', parameter: 'title' },
] as const;

export type ToolName = (typeof tools)[number]['name'];

export interface Call {
  name: string;
  given: unknown;
}

/** A picture of one pixel. */
export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

export const question = (turn: number) => `Question ${turn}: how is it there?`;
export const answer = (turn: number) => `Answer ${turn}: take an umbrella.`;
export const given = (turn: number, { name, parameter }: (typeof tools)[number]) => ({
  [parameter]: `the ${name} of turn ${turn}`,
});
/** Both calls, as the provider makes them. */
export const callsOf = (turn: number): Call[] => tools.map((tool) => ({ name: tool.name, given: given(turn, tool) }));

export const resultText = (turn: number, name: string) => `The ${name} of turn ${turn}: rain.`;
/** The result that has an image, where the client's API has such results. */
export const hasImage = (turn: number, name: string) => turn === 2 && name === 'picture';

/** Where a request stands in the conversation: a person asked, or the tools have answered. */
export interface Stage {
  turn: number;
  isReport: boolean;
}

/** `body`: the request as text, in any API. A text: what it lacks of the conversation. */
export function stageOf(body: string): Stage | string {
  const turn = turns.findLast((each) => body.includes(question(each)));
  if (turn === undefined) return 'The request lacks every question of the conversation.';
  for (const earlier of turns.filter((each) => each < turn)) {
    if (!body.includes(question(earlier)) || !body.includes(answer(earlier)))
      return `Turn ${turn} comes without turn ${earlier}.`;
  }
  return { turn, isReport: body.includes(resultText(turn, 'weather')) };
}
