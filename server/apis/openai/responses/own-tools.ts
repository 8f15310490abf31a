/**
 * Tools that OpenAI's models know by their type and that the client runs, whose calls are items of their own: what a model of
 * another service is told of them, and how its calls come back. Sources: OpenAI, "Shell", "Local shell", "Apply patch",
 * "Computer use"; `resources/responses/responses.ts` of its TypeScript SDK 7.55.0.
 */
import { isObject } from '../../../contract/is-object.ts';
import type { JsonSchema } from '../../neutral/conversation.ts';
import { parseLosslessJson } from '../../neutral/json-text.ts';

type Json = Record<string, unknown>;

interface OwnTool {
  /** Its name as a function, with which the type of its calls begins. */
  name: string;
  description: (tool: Json) => string;
  schema: JsonSchema;
  /** The members of a call's item that have its input. */
  itemMembers: (input: Json) => Json;
}

const text = { type: 'string' };
const number = { type: 'integer' };
const texts = { type: 'array', items: text };

const one = (...values: string[]) => ({ ...text, enum: values });
const object = (properties: Json, ...required: string[]) => ({ type: 'object', properties, required });

const shell: OwnTool = {
  name: 'shell',
  description: () => 'Runs shell commands on the user’s machine, one after another.',
  schema: object({ commands: texts, timeout_ms: number, max_output_length: number }, 'commands'),
  itemMembers: ({ commands, timeout_ms = null, max_output_length = null }) => ({
    action: { commands: listOf(commands), timeout_ms, max_output_length },
    environment: { type: 'local' },
  }),
};

const localShell: OwnTool = {
  name: 'local_shell',
  description: () => 'Runs a command on the user’s machine. `command` is the program followed by its arguments.',
  schema: object(
    {
      command: texts,
      working_directory: text,
      env: { type: 'object', additionalProperties: text },
      timeout_ms: number,
      user: text,
    },
    'command',
  ),
  itemMembers: ({ command, env, ...options }) => ({
    action: { ...options, type: 'exec', command: listOf(command), env: env ?? {} },
  }),
};

const applyPatch: OwnTool = {
  name: 'apply_patch',
  description: () =>
    'Creates, changes or deletes a file. `diff` is in the V4A format: after a line that begins with @@, lines begin with a space if they stay, - if they go, + if they are new; all lines of a new file begin with +.',
  schema: object({ type: one('create_file', 'update_file', 'delete_file'), path: text, diff: text }, 'type', 'path'),
  itemMembers: (input) => ({ operation: isObject(input.operation) ? input.operation : input }),
};

const action = object(
  {
    type: one('click', 'double_click', 'drag', 'keypress', 'move', 'screenshot', 'scroll', 'type', 'wait'),
    ...{ x: number, y: number, scroll_x: number, scroll_y: number, text, keys: texts },
    button: one('left', 'right', 'wheel', 'back', 'forward'),
    path: { type: 'array', items: object({ x: number, y: number }, 'x', 'y') },
  },
  'type',
);

const computerPreview: OwnTool = {
  name: 'computer',
  description: ({ display_width: width, display_height: height }) =>
    `Uses a screen of ${numberOr(width, 1024)} × ${numberOr(height, 768)} pixels with mouse and keyboard. Take a screenshot to see it.`,
  schema: action,
  itemMembers: (input) => ({ action: input, pending_safety_checks: [] }),
};

const computer: OwnTool = {
  name: 'computer',
  description: () => 'Uses a screen with mouse and keyboard. Take a screenshot to see it.',
  schema: object({ actions: { type: 'array', items: action } }, 'actions'),
  itemMembers: ({ actions }) => ({ actions: listOf(actions), pending_safety_checks: [] }),
};

/** Models of other services may write one thing where a list of things belongs, over which clients go without asking. */
function listOf(value: unknown): unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

const byType: ReadonlyMap<unknown, OwnTool> = new Map([
  ['shell', shell],
  ['local_shell', localShell],
  ['apply_patch', applyPatch],
  ['computer_use_preview', computerPreview],
  ['computer', computer],
]);

/** Undefined for any other type, and for a shell in a container of the provider. */
export function ownToolOf(tool: Json): OwnTool | undefined {
  const { type, environment } = tool;
  if (type === 'shell' && isObject(environment) && environment.type !== 'local') return undefined;
  return byType.get(type);
}

/** The name of the function that stands for a tool which a choice or a call names by its type. */
export function ownToolName(type: unknown): string | undefined {
  return byType.get(type)?.name;
}

/** A call as the item of the tool with this type, whose input is whole. */
export function ownCallItem(type: string, call: { id: string; callId: string; arguments: string }): Json {
  const tool = byType.get(type);
  const input = parseLosslessJson(call.arguments);
  const members = tool?.itemMembers(isObject(input) ? input : {});
  return { id: call.id, type: `${tool?.name ?? type}_call`, status: 'completed', call_id: call.callId, ...members };
}

/** Members of a call's item in which its input is, in the order in which they are looked for. */
const inputNames = ['arguments', 'action', 'operation'];

/** The input of a call of such a tool, as the model wrote it for the function. */
export function ownCallInput(item: Json): unknown {
  if (Array.isArray(item.actions)) return { actions: item.actions };
  const input = inputNames.map((name) => item[name]).find((value) => value !== undefined && value !== null) ?? {};
  if (!isObject(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
}
