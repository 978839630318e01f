import { isMap, isSeq, parseDocument } from 'yaml'

/** What older versions of pnpm read. `allowBuilds` is for pnpm 11 and later. */
const buildLists = ['ignoredBuiltDependencies', 'onlyBuiltDependencies', 'neverBuiltDependencies']

/**
 * Returns `pnpm-workspace.yaml` with a decision about esbuild, for every version of pnpm, and with its comments. It stays as
 * it is if it contains one, or if it is not valid.
 */
export function approveBuilds(before: string): string {
  const document = parseDocument(before)
  if (document.errors.length > 0 || !(document.contents === null || isMap(document.contents))) return before
  const settings = (document.toJS() ?? {}) as Readonly<Record<string, unknown>>
  const { allowBuilds, ignoredBuiltDependencies: ignored } = settings
  const names = [...Object.keys(allowBuilds ?? {}), ...buildLists.flatMap((list) => settings[list] ?? [])]
  if (names.some((name) => typeof name === 'string' && /^esbuild(?:@|$)/.test(name))) return before
  document.contents ??= document.createNode({}) as never
  for (const [key, value, entry] of [
    ['allowBuilds', allowBuilds, { esbuild: false }],
    ['ignoredBuiltDependencies', ignored, ['esbuild']],
  ] as const) {
    const list = document.get(key, true)
    if (value === undefined || value === null) document.set(key, entry)
    else if (isMap(list) && !Array.isArray(entry)) list.set('esbuild', false)
    else if (isSeq(list) && Array.isArray(entry)) list.add('esbuild')
    else return before
  }
  return document.toString({ lineWidth: 0, indentSeq: !/^- /m.test(before) })
}
