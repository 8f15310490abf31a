import type { Dialect } from '../../core/dialects/dialect.ts';
import { bedrockModelPages } from './model-pages.ts';
import { modelOnBedrock } from './models.ts';
import { awsSigning, readAwsKeys } from './signing.ts';

/**
 * Amazon Bedrock. Base URLs are those of its runtime: `https://bedrock-runtime.us-east-1.amazonaws.com`. A credential
 * is either a Bedrock API key or an AWS access key, which signs each request. Source: Amazon Bedrock API reference.
 */
export const bedrockDialect: Dialect = {
  id: 'bedrock',
  // The envelope puts it in, percent-encoded, because the ARN of an inference profile contains slashes.
  putsModelInPath: false,
  address: ({ basePath }, path, query) => basePath + path + query,
  serves: () => false,
  conversationWire: 'bedrock-converse',
  embeddingsWire: null,
  defaultHeaders: {},
  bindsReasoning: true,
  modelPages: bedrockModelPages,
  hasUnlistedModels: true,
  authorize: (secret) => (readAwsKeys(secret) ? {} : { authorization: `Bearer ${secret}` }),
  signing(secret) {
    const keys = readAwsKeys(secret);
    return keys && awsSigning(keys);
  },
  hosted: modelOnBedrock,
};
