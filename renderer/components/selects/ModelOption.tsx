import type { ModelView } from '../../../server/contract/access-views.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { describeModel } from './describe-model.ts';
import classes from './ModelField.module.css';

/** A model in a drop-down list: its name, purpose, context size and price. */
export function ModelOption({ model }: { model: ModelView }) {
  const localization = useLocalization();
  const { health } = localization.messages.models;
  return (
    <span className={classes.option}>
      <span className={classes.name}>
        <span
          className={`${classes.dot} ${model.health === 'ok' ? classes.good : classes.bad}`}
          role="img"
          aria-label={health[model.health]}
          title={health[model.health]}
        />
        {model.id}
      </span>
      <span className={classes.facts}>{describeModel(model, localization)}</span>
    </span>
  );
}
