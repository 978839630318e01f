import { isMap, isSeq, parseDocument } from 'yaml'

/** What older versions of pnpm read. `allowBuilds` is for pnpm 11 and later. */
const buildLists = ['ignoredBuiltDependencies', 'onlyBuiltDependencies', 'neverBuiltDependencies']

/**
 * Returns `pnpm-workspace.yaml` with decisions about install scripts, for every version of pnpm, and with its comments. A
 * decision that it contains stays, and so does a file that is not valid.
 * @param scripts whether packages need their install scripts, by name
 */
export function approveBuilds(before: string, scripts: Readonly<Record<string, boolean>>): string {
  return Object.entries(scripts).reduce((text, [name, isNeeded]) => approveBuild(text, name, isNeeded), before)
}

function approveBuild(before: string, name: string, isNeeded: boolean): string {
  const document = parseDocument(before)
  if (document.errors.length > 0 || !(document.contents === null || isMap(document.contents))) return before
  const settings = (document.toJS() ?? {}) as Readonly<Record<string, unknown>>
  const { allowBuilds } = settings
  const decided = [...Object.keys(allowBuilds ?? {}), ...buildLists.flatMap((list) => settings[list] ?? [])]
  if (decided.some((one) => one === name || (typeof one === 'string' && one.startsWith(`${name}@`)))) return before
  document.contents ??= document.createNode({}) as never
  const older = isNeeded ? 'onlyBuiltDependencies' : 'ignoredBuiltDependencies'
  for (const [key, value, entry] of [
    ['allowBuilds', allowBuilds, { [name]: isNeeded }],
    [older, settings[older], [name]],
  ] as const) {
    const list = document.get(key, true)
    if (value === undefined || value === null) document.set(key, entry)
    else if (isMap(list) && !Array.isArray(entry)) list.set(name, isNeeded)
    else if (isSeq(list) && Array.isArray(entry)) list.add(name)
    else return before
  }
  return document.toString({ lineWidth: 0, indentSeq: !/^- /m.test(before) })
}
