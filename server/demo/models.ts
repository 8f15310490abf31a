/** The models that the demo provider lists, and which of them serves what. */
import type { Capability } from '../contract/capability.ts';
import { DemoError, missingModel } from './demo-error.ts';
import type { Parameters } from './parameters.ts';

interface DemoModel {
  id: string;
  object: 'model';
  /** Unix seconds; fixed, so that listings never differ. */
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

/** The routes on which OpenAI lets a request name no model. */
const mayOmitModel: ReadonlySet<Capability> = new Set(['images', 'moderations', 'videos']);

/** OpenAI answers an unknown model with 400 on these, with 404 on the others. */
const refusesWith400: ReadonlySet<Capability> = new Set(['responses', 'images']);

/** The model that a request names, or may leave out; throws OpenAI's error if it is none that serves this capability. */
export function modelOf(parameters: Parameters, capability: Capability): string {
  const asked = parameters.string('model');
  const serving = demoModelFor[capability];
  if (asked === serving) return asked;
  if (asked === undefined && mayOmitModel.has(capability)) return serving;
  if (asked === undefined) throw missingModel();
  throw new DemoError({
    status: refusesWith400.has(capability) ? 400 : 404,
    code: 'model_not_found',
    param: 'model',
    message: `The demo provider has no model '${asked}' for ${capability}; use '${serving}'.`,
  });
}
