/**
 * The functions of Gemini's computer use, which its models know without being told: what a model of another service is told of
 * them. They are called as any other function is. Source: Google, "Computer Use", Supported UI actions.
 */
import type { JsonSchema, Tool } from '../../neutral/conversation.ts';

type Properties = Record<string, JsonSchema>;

const text = { type: 'string' };
const flag = { type: 'boolean' };
/** Of a grid that stands for the whole screen, whatever its size. */
const coordinate = { type: 'integer', minimum: 0, maximum: 999 };
const place = { x: coordinate, y: coordinate };
const direction = (...values: string[]) => ({ type: 'string', enum: values });
const anyDirection = direction('up', 'down', 'left', 'right');

interface PredefinedFunction {
  description: string;
  properties: Properties;
  /** Properties that may be left out. */
  optional?: readonly string[];
}

const functions: Readonly<Record<string, PredefinedFunction>> = {
  open_web_browser: { description: 'Opens the web browser.', properties: {} },
  wait_5_seconds: { description: 'Waits for 5 seconds, until the page has loaded.', properties: {} },
  go_back: { description: 'Goes back to the previous page in the browser’s history.', properties: {} },
  go_forward: { description: 'Goes forward to the next page in the browser’s history.', properties: {} },
  search: { description: 'Opens the start page of the default search engine.', properties: {} },
  navigate: { description: 'Opens a URL.', properties: { url: text } },
  click_at: { description: 'Clicks at a place on the screen.', properties: place },
  hover_at: { description: 'Moves the mouse to a place on the screen.', properties: place },
  type_text_at: {
    description:
      'Types text at a place on the screen. It clears the field first and presses Enter afterwards, unless told not to.',
    properties: { ...place, text, press_enter: flag, clear_before_typing: flag },
    optional: ['press_enter', 'clear_before_typing'],
  },
  key_combination: {
    description: 'Presses keys together, such as "control+c" or "enter".',
    properties: { keys: text },
  },
  scroll_document: { description: 'Scrolls the whole page.', properties: { direction: anyDirection } },
  scroll_at: {
    description: 'Scrolls what is at a place on the screen.',
    properties: { ...place, direction: anyDirection, magnitude: coordinate },
    optional: ['magnitude'],
  },
  drag_and_drop: {
    description: 'Drags what is at a place on the screen to another place.',
    properties: { ...place, destination_x: coordinate, destination_y: coordinate },
  },
};

const ofPlaces = 'Coordinates are in a grid of 1000 × 1000 over the whole screen, from its upper left corner.';

/** All functions but those in `excluded`. `at` is where the tool that stands for them is in the request. */
export function computerFunctions(excluded: ReadonlySet<string>, at: string): Tool[] {
  return Object.entries(functions)
    .filter(([name]) => !excluded.has(name))
    .map(([name, { description, properties, optional = [] }]) => ({
      kind: 'function',
      name,
      description: 'x' in properties ? `${description} ${ofPlaces}` : description,
      schema: {
        type: 'object',
        properties,
        required: Object.keys(properties).filter((property) => !optional.includes(property)),
      },
      at,
    }));
}
