/** Google, "Thought signatures": accepted in place of a signature that is not available. gemini-cli sends it too. */
export const placeholderSignature = 'skip_thought_signature_validator';
