/** Guesses by name what a model is for, so that a screen begins with one that works. Nothing depends on a guess being right. */
export type ModelUse = 'chat' | 'embeddings' | 'images' | 'speech' | 'transcription' | 'moderations' | 'videos';

const signs: Record<Exclude<ModelUse, 'chat'>, RegExp> = {
  embeddings: /embed|bge-|e5-/i,
  images: /image|dall-e|flux|imagen|stable-diffusion|sdxl/i,
  speech: /tts|speech/i,
  transcription: /whisper|transcri/i,
  moderations: /moderation/i,
  videos: /video|sora|veo-/i,
};
const otherUses = /rerank|realtime|guard/i;

/** The first that seems made for it, else the first; an empty text if there is none. */
export function likelyModel(models: readonly string[], use: ModelUse): string {
  const made = models.find((model) => isLikely(model, use));
  // Some services judge texts by a model for everything.
  return made ?? (use === 'moderations' ? likelyModel(models, 'chat') : (models[0] ?? ''));
}

function isLikely(model: string, use: ModelUse): boolean {
  if (use !== 'chat') return signs[use].test(model);
  return !otherUses.test(model) && !Object.values(signs).some((sign) => sign.test(model));
}
