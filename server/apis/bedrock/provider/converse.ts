/**
 * Models on Bedrock through its Converse API, which is the same for all of them. Models that make embeddings are called
 * through InvokeModel. Source: Amazon Bedrock API reference, "Converse".
 */

import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import type { ResponseHeaders } from '../../../transport/transport.ts';
import { allAvailable, type Envelope, type EnvelopedRequest, type HostedModel } from '../../core/dialects/dialect.ts';
import { isUnknownModel, messageIn } from './exceptions.ts';
import { type FrameFormat, frames, onOneLine } from './frames.ts';
import { unpackingOf } from './unpacking.ts';

export function converseOnBedrock(model: string): HostedModel {
  return {
    wire: 'bedrock-converse',
    embeddingsWire: makesEmbeddings(model) ? 'bedrock-embeddings' : null,
    countsTokens: false,
    envelope: (request) => envelope(model, request),
    errorBody,
    unpacking: unpackingOf(converseFrames),
  };
}

function envelope(model: string, { path, headers }: EnvelopedRequest): Envelope {
  return {
    path: path.replace('{model}', () => encodeURIComponent(model)),
    headers: { ...headers, accept: path.endsWith('-stream') ? frames : 'application/json' },
    omitted: [],
    added: {},
    unavailable: allAvailable,
  };
}

/** Writes each event as an object whose only member is named after its type, as in AWS's SDKs. */
export const converseFrames: FrameFormat = {
  eventWriter(type) {
    const begin = `data: {${JSON.stringify(type)}:`;
    return (payload) => `${begin}${onOneLine(payload)}}\n\n`;
  },
  exception: (name, message) => `data: ${writeError(name, message)}\n\n`,
};

/**
 * An error whose header is like `ThrottlingException:http://internal.amazon.com/coral/`, rewritten with its name in the
 * body.
 */
function errorBody(_status: number, headers: ResponseHeaders, body: Buffer): Buffer {
  const name = headers['x-amzn-errortype'];
  const message = messageIn(body);
  return message === null ? body : Buffer.from(writeError(typeof name === 'string' ? name : '', message));
}

/** In streams, the names of exceptions begin with a lower-case letter. */
function writeError(name: string, message: string): string {
  const [shortName = ''] = name.split(':');
  const typeName = shortName.charAt(0).toUpperCase() + shortName.slice(1);
  const type = typeName === 'ValidationException' && isUnknownModel(message) ? 'ResourceNotFoundException' : typeName;
  return JSON.stringify({ error: { type, message } });
}

/** `amazon.titan-embed-text-v2:0`, `us.cohere.embed-v4:0`, or an ARN that ends in such a name. */
const embeddingModel = boundedPattern(/(?:^|[./])(?:amazon\.titan-embed-(?:g1-)?text|cohere\.embed)-[^/]{0,200}$/);

/** Whether the model makes text embeddings in a format that Sluice knows. */
export function makesEmbeddings(model: string): boolean {
  return embeddingModel.test(model);
}
