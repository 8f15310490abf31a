/**
 * Tools that Claude knows by their type and that clients run: what a model of another service has to be told of them.
 * Sources: Anthropic, "Bash tool", "Text editor tool", "Memory tool", "Computer use tool".
 */
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { Fields } from '../../neutral/fields.ts';

type Json = Record<string, unknown>;

interface KnownTool {
  description: string;
  schema: Json;
}

const text = { type: 'string' };
const number = { type: 'integer' };
const point = { type: 'array', items: number, minItems: 2, maxItems: 2 };

const one = (...values: string[]) => ({ ...text, enum: values });
const object = (properties: Json, ...required: string[]) => ({ type: 'object', properties, required });

const editing = {
  path: text,
  file_text: text,
  old_str: text,
  new_str: text,
  insert_line: number,
  insert_text: text,
  view_range: point,
};

const bash: KnownTool = {
  description: 'Runs a command in a persistent bash session, or restarts the session.',
  schema: object({ command: text, restart: { type: 'boolean' } }),
};

const textEditor: KnownTool = {
  description:
    'Views, creates and edits files: view (path, view_range), create (path, file_text), str_replace (path, old_str, new_str), insert (path, insert_line, insert_text).',
  schema: object({ command: one('view', 'create', 'str_replace', 'insert'), ...editing }, 'command', 'path'),
};

const memory: KnownTool = {
  description:
    'Keeps notes in files below /memories: view (path), create (path, file_text), str_replace (path, old_str, new_str), insert (path, insert_line, insert_text), delete (path), rename (old_path, new_path).',
  schema: object(
    {
      command: one('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
      ...{ ...editing, old_path: text, new_path: text },
    },
    'command',
  ),
};

const actions = [
  ...['screenshot', 'mouse_move', 'left_click', 'right_click', 'middle_click', 'double_click', 'triple_click'],
  ...['left_click_drag', 'left_mouse_down', 'left_mouse_up', 'scroll', 'key', 'hold_key', 'type', 'wait'],
];

function computer(fields: Fields): KnownTool {
  const [width, height] = [fields.number('display_width_px'), fields.number('display_height_px')];
  return {
    description: `Uses a screen of ${width ?? 1024} × ${height ?? 768} pixels with mouse and keyboard. Take a screenshot to see it.`,
    schema: object(
      {
        action: one(...actions),
        ...{ coordinate: point, start_coordinate: point, text, duration: { type: 'number' } },
        ...{ scroll_direction: one('up', 'down', 'left', 'right'), scroll_amount: number },
      },
      'action',
    ),
  };
}

/** A type such as `bash_20250124` ends in the date of its version, which changes options but not what a model has to know. */
const dated = boundedPattern(/^([a-z_]{1,40})_\d{8}$/);

/** Undefined for a tool that only Anthropic can run, or that is not known. */
export function knownTool(type: string, fields: Fields): KnownTool | undefined {
  switch (dated.exec(type)?.[1] ?? type) {
    case 'bash':
      return bash;
    case 'text_editor':
      return textEditor;
    case 'memory':
      return memory;
    case 'computer':
      return computer(fields);
    default:
      return undefined;
  }
}
