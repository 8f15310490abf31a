import classes from './ProviderMark.module.css';
import { presetLetters } from './provider-letters.ts';

/** Two letters on a colour, to find a provider at a glance. Shown beside its name. */
export function ProviderMark({ preset, name }: { preset: string | null; name: string }) {
  const isService = preset !== null && preset !== 'custom';
  const text = isService ? presetLetters(preset) : [...name.trim()].slice(0, 2).join('');
  return (
    <svg className={classes.mark} viewBox="0 0 32 32" aria-hidden data-hue={hueOf(preset ?? name)}>
      <rect width="32" height="32" rx="8" />
      <text x="16" y="16" dy="0.36em" textAnchor="middle">
        {text}
      </text>
    </svg>
  );
}

const hues = 6;

/** Always the same hue for the same name. */
function hueOf(name: string): number {
  let sum = 0;
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 997;
  return sum % hues;
}
