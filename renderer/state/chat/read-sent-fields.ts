/** Converts tools and parameters of a request to any conversation API to the form that the chat panel uses. Pure. */
import { isObject } from '../../../server/contract/is-object.ts';
import { at, listAt, numberAt, textAt } from '../calls/json-path.ts';
import { noParameters, type SamplingDraft } from './sampling.ts';

/** Function tools in the format of Chat Completions. Tools of other types are added to `omitted`. */
export function readTools(tools: unknown, omitted: Set<string>): object[] {
  return listAt(tools).flatMap((tool) => {
    if (!isObject(tool)) return [];
    const declared = listAt(tool.functionDeclarations ?? tool.function_declarations);
    if (declared.length > 0) return declared.map((each) => toFunction(each, geminiSchemaOf(each)));
    const type = textAt(tool, 'type');
    // Already in the format of Chat Completions.
    if (isObject(tool.function) || (type === 'custom' && isObject(tool.custom))) return [tool];
    if (type === 'function') return [toFunction(tool, tool.parameters)];
    if (isObject(tool.input_schema)) return [toFunction(tool, tool.input_schema)];
    omitted.add(textAt(tool, 'name') ?? type ?? Object.keys(tool)[0] ?? 'tools');
    return [];
  });
}

function toFunction(declared: unknown, parameters: unknown): object {
  const [name, description, strict] = ['name', 'description', 'strict'].map((field) => at(declared, field));
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && parameters !== null && { parameters }),
      ...(typeof strict === 'boolean' && { strict }),
    },
  };
}

function geminiSchemaOf(declared: unknown): unknown {
  return at(declared, 'parametersJsonSchema') ?? withPlainTypes(at(declared, 'parameters'));
}

/** Gemini's own schemas have types in capitals: `OBJECT`. */
function withPlainTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withPlainTypes);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === 'type' && typeof value === 'string' ? value.toLowerCase() : withPlainTypes(value),
    ]),
  );
}

export function readSampling(body: unknown): SamplingDraft {
  const gemini = at(body, 'generationConfig') ?? at(body, 'generation_config');
  const schema = schemaIn(body);
  const numberOf = (source: unknown, ...names: string[]) =>
    names.map((name) => numberAt(source, name)).find((value) => value !== null);
  return {
    ...noParameters,
    temperature: numberOf(body, 'temperature') ?? numberOf(gemini, 'temperature') ?? '',
    topP: numberOf(body, 'top_p') ?? numberOf(gemini, 'topP', 'top_p') ?? '',
    maxTokens:
      numberOf(body, 'max_completion_tokens', 'max_output_tokens', 'max_tokens') ??
      numberOf(gemini, 'maxOutputTokens', 'max_output_tokens') ??
      '',
    effort:
      textAt(body, 'reasoning_effort') ??
      textAt(body, 'reasoning', 'effort') ??
      textAt(body, 'output_config', 'effort') ??
      '',
    schema: schema === undefined ? '' : JSON.stringify(schema, null, 2),
  };
}

function schemaIn(body: unknown): unknown {
  const gemini = at(body, 'generationConfig');
  return (
    at(body, 'response_format', 'json_schema', 'schema') ??
    at(body, 'text', 'format', 'schema') ??
    at(body, 'output_config', 'format', 'schema') ??
    at(gemini, 'responseJsonSchema') ??
    withPlainTypes(at(gemini, 'responseSchema'))
  );
}

/** Fields that are carried over completely. The panel always streams. */
const supported = new Set(
  (
    'model messages system contents systemInstruction system_instruction input instructions tools stream stream_options ' +
    'temperature top_p max_tokens max_completion_tokens max_output_tokens reasoning_effort'
  ).split(' '),
);
/** Fields of which only these members are carried over. */
const partly: Record<string, readonly string[]> = {
  reasoning: ['effort'],
  output_config: ['effort', 'format'],
  text: ['format'],
  generationConfig: 'temperature topP maxOutputTokens responseSchema responseJsonSchema responseMimeType'.split(' '),
  generation_config: ['temperature', 'top_p', 'max_output_tokens'],
};

/**
 * Names of the top-level fields that the panel does not keep. If only a member is not kept, it is named too:
 * `reasoning.summary`.
 */
export function omittedFields(body: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(body).flatMap(([name, value]) => {
    if (value === null || supported.has(name)) return [];
    const members = partly[name];
    if (name === 'response_format')
      return schemaIn(body) === undefined && textAt(value, 'type') !== 'text' ? [name] : [];
    if (members === undefined || !isObject(value)) return [name];
    return Object.keys(value).flatMap((member) => (members.includes(member) ? [] : `${name}.${member}`));
  });
}
