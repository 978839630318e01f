import type { Making } from './making.ts'
import type { ResolvedSchemas } from './resolve-references.ts'
import type { Level } from './walk-schema.ts'

const maxFollowed = 1000

/** Warns of arrays in request bodies that may hold any number of items: only the size of the body limits them. */
export function checkRequestArrays({ requests, schemas, loading }: Making, { targets }: ResolvedSchemas): void {
  const { levels } = schemas.walking
  const follow = (level: Level): Level[] =>
    level.references.flatMap(({ at }) => levels.get(targets.get(at)?.node ?? at) ?? [])
  const values = new Set(requests.flatMap((node) => levels.get(node) ?? []))
  // Both sets grow while they are walked: by the values within a value, and by all that is said of the same value.
  for (const value of values) {
    const said = new Set([value])
    for (const level of said) {
      for (const target of follow(level)) if (said.size < maxFollowed) said.add(target)
      for (const part of level.parts) values.add(part)
    }
    if ([...said].some(({ isLimited }) => isLimited)) continue
    for (const at of [...said].flatMap(({ arrays }) => arrays))
      loading.report.add({ code: 'WP_DEFINITION_ARRAY_UNLIMITED', severity: 'warning', at })
  }
}
