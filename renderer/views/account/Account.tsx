/** The account of the person signed in: their first steps, usage and API tokens. */
import { Screen } from '../../components/layout/Screen.tsx';
import { TokensSection } from '../../components/tokens/TokensSection.tsx';
import { OwnFirstSteps } from './OwnFirstSteps.tsx';
import { OwnUsageSection } from './OwnUsageSection.tsx';

export function Account() {
  return (
    <Screen name="account">
      <OwnFirstSteps />
      <OwnUsageSection />
      <TokensSection of="me" />
    </Screen>
  );
}
