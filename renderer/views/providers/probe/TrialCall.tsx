import { Button, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { purposeOf } from '../../../../server/contract/model-identity.ts';
import type { ProviderView } from '../../../../server/contract/provider-views.ts';
import { useMessages } from '../../../messages/use-messages.ts';
import classes from '../Providers.module.css';

/** Calls a chosen model, usually the one that the person is going to use. Renders nothing if no model is known. */
export function TrialCall({ provider, onCall }: { provider: ProviderView; onCall(model: string): void }) {
  const { test: names } = useMessages().providers;
  const models = provider.modelNames.filter((name) => purposeOf(name) === 'chat');
  const [chosen, setChosen] = useState<string | null>(null);
  const model = chosen ?? models[0];
  if (model === undefined) return null;
  return (
    <div className={classes.trial}>
      <NativeSelect
        size="xs"
        aria-label={names.callModel}
        value={model}
        onChange={(event) => setChosen(event.currentTarget.value)}
        data={models}
      />
      <Button size="xs" variant="default" onClick={() => onCall(model)}>
        {names.call}
      </Button>
    </div>
  );
}
