import type { DefinitionContext } from './definition-context.ts'
import type { ResolvedSchemas } from './resolve-references.ts'
import type { Level } from './walk-schema.ts'

const maxFollowed = 1000

/**
 * Warns about arrays without a maximum number of items in request bodies, where only the size of the body limits them.
 */
export function checkRequestArrays(
  { requests, schemas, loading }: DefinitionContext,
  { targets }: ResolvedSchemas,
): void {
  const { levels } = schemas.walking
  const follow = (level: Level): Level[] =>
    level.references.flatMap(({ at }) => levels.get(targets.get(at)?.node ?? at) ?? [])
  const values = new Set(requests.flatMap((node) => levels.get(node) ?? []))
  // Both sets grow while they are iterated: with nested values, and with other levels of the same value.
  for (const value of values) {
    const sameValue = new Set([value])
    for (const level of sameValue) {
      for (const target of follow(level)) if (sameValue.size < maxFollowed) sameValue.add(target)
      for (const part of level.parts) values.add(part)
    }
    if ([...sameValue].some(({ isLimited }) => isLimited)) continue
    for (const at of [...sameValue].flatMap(({ arrays }) => arrays))
      loading.report.add({ code: 'WP_DEFINITION_ARRAY_UNLIMITED', severity: 'warning', at })
  }
}
