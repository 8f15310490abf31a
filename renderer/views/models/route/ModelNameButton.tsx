import { useMessages } from '../../../messages/use-messages.ts';
import classes from '../Models.module.css';

/** The name of a model or alias; a click shows its route. */
export function ModelNameButton({ name, onExplain }: { name: string; onExplain(): void }) {
  const { models } = useMessages();
  return (
    <button
      type="button"
      className={classes.modelName}
      onClick={onExplain}
      title={models.explain}
      aria-label={models.explainNamed(name)}
    >
      {name}
    </button>
  );
}
