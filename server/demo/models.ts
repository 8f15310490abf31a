/** The demo's models and their capabilities. */
import type { Capability } from '../contract/capability.ts';
import { DemoError } from './demo-error.ts';
import type { Parameters } from './parameters.ts';

interface DemoModel {
  id: string;
  object: 'model';
  /** Unix seconds. */
  created: number;
  owned_by: 'sluice-demo';
}

const ids = ['demo-chat', 'demo-embedding', 'demo-image', 'demo-speech', 'demo-transcribe', 'demo-video'] as const;

export const demoModels: readonly DemoModel[] = ids.map((id) => ({
  id,
  object: 'model',
  created: 1_767_225_600,
  owned_by: 'sluice-demo',
}));

/** The one demo model of each capability. */
export const demoModelFor: Readonly<Record<Capability, (typeof ids)[number]>> = {
  chat: 'demo-chat',
  completions: 'demo-chat',
  responses: 'demo-chat',
  moderations: 'demo-chat',
  embeddings: 'demo-embedding',
  images: 'demo-image',
  speech: 'demo-speech',
  transcription: 'demo-transcribe',
  translation: 'demo-transcribe',
  videos: 'demo-video',
};

/** The routes whose `model` is optional at OpenAI. */
const mayOmitModel: ReadonlySet<Capability> = new Set(['images', 'moderations', 'videos']);

/** Routes on which OpenAI answers an unknown model with 400; elsewhere it answers 404. */
const refusesWith400: ReadonlySet<Capability> = new Set(['responses', 'images']);

/** The model that a request names, or the default if it may be omitted. Throws OpenAI's error for any other model. */
export function modelOf(parameters: Parameters, capability: Capability): string {
  const model = parameters.string('model');
  const serving = demoModelFor[capability];
  if (model === serving) return model;
  if (model === undefined && mayOmitModel.has(capability)) return serving;
  if (model === undefined) throw new DemoError({ status: 400, message: 'You must provide a model parameter.' });
  throw new DemoError({
    status: refusesWith400.has(capability) ? 400 : 404,
    code: 'model_not_found',
    param: 'model',
    message: `The demo provider has no model '${model}' for ${capability}; use '${serving}'.`,
  });
}
