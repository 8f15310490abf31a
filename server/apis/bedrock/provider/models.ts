/** Chooses the API through which each model on Bedrock is called. */
import { identify } from '../../../contract/model-identity.ts';
import type { HostedModel } from '../../core/dialects/dialect.ts';
import { claudeOnBedrock } from './claude.ts';
import { converseOnBedrock } from './converse.ts';

/** Kinds of resources whose ARN does not reveal the model, but which are never Claude. */
const others = ['imported-model/', 'custom-model-deployment/'];

/**
 * Claude is called through InvokeModel, which accepts all of Anthropic's API; all other models through Converse. A name
 * that does not reveal its maker, such as the ARN of an application inference profile, is treated as Claude.
 * @param model `us.anthropic.claude-opus-4-5-20251101-v1:0`, `amazon.nova-pro-v1:0`, or an ARN
 */
export function modelOnBedrock(model: string): HostedModel {
  const { maker } = identify(model);
  const isClaude = maker === 'anthropic' || (maker === null && !model.slice(model.lastIndexOf('/') + 1).includes('.'));
  return isClaude && !others.some((kind) => model.includes(kind)) ? claudeOnBedrock(model) : converseOnBedrock(model);
}
