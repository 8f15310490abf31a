/** Google, "Thought signatures": stands for one that is not at hand. gemini-cli sends it by itself. */
export const signatureStandIn = 'skip_thought_signature_validator';
