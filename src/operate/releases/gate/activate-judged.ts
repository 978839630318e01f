import { assertActive, type ActivateOptions } from '../../../release/index.ts'
import type { ReleaseFacts } from './facts.ts'
import { assertAllowed, type Consent } from './judge-release.ts'

export interface Judged {
  readonly facts: ReleaseFacts
  readonly consent: Consent
}

/**
 * Activates a release if it may become active, and if the release with which it was compared is still the active one.
 * @param activate deploys, publishes or rolls back with the given options
 * @throws WP_RELEASE_SUPERSEDED, and the problem of the first objection
 */
export async function activateJudged<Options extends ActivateOptions, Result>(
  { facts, consent }: Judged,
  options: Options,
  activate: (options: Options) => Promise<Result>,
): Promise<Result> {
  const { active } = facts
  if (active?.id !== facts.id) assertActive(active, options.against)
  assertAllowed(facts, consent)
  return activate({ ...options, against: active?.id ?? 'none' })
}
