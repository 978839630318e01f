import { readdirSync } from 'node:fs'
import path from 'node:path'
import { isAlias, isMap, isScalar, isSeq, type Node as YamlNode } from 'yaml'
import type { IncludeSite } from '../kit/index.ts'
import { loadSource, siteOf, type Loading } from './loading.ts'
import { parsePointer } from '../schema/index.ts'
import { isLink, type Refusal } from './read-file.ts'
import type { Report } from './report.ts'
import type { Origin, Span } from './source.ts'

/** What `!include` and a relative `$ref` name: a file of the project and a value in it. */
export interface Target {
  /** As it is written. */
  readonly text: string
  /** Relative to the project's root. */
  readonly file: string
  readonly pointer: readonly string[]
}

/** A value as the parser has it, and the file in which it stands. */
export interface Located {
  readonly node: YamlNode | null
  readonly origin: Origin
}

/** Reads `file#/json/pointer`, relative to the file in which it stands; undefined, and a report, if that cannot be. */
export function parseTarget(loading: Loading, text: string, at: Span): Target | undefined {
  const [name = '', fragment = ''] = text.split(/#(.*)/s)
  const from = at.origin.source.file
  const file = name === '' ? from : path.posix.join(path.posix.dirname(from), name)
  const pointer = parsePointer(fragment)
  if (file.startsWith('../') || file === '..' || path.posix.isAbsolute(name) || /^[a-z]:/i.test(name)) {
    loading.report.add({ code: 'WP_DEFINITION_INCLUDE_OUTSIDE', at, parameters: { target: text } })
  } else if (
    pointer === undefined ||
    name.includes('\\') ||
    name.includes('://') ||
    text === '' ||
    !/\.(ya?ml|json)$/.test(file)
  ) {
    loading.report.add({ code: 'WP_DEFINITION_INCLUDE_INVALID', at, parameters: { target: text } })
  } else {
    return { text, file, pointer }
  }
  return undefined
}

/** Includes that stand in each other, and aliases that follow each other: more is a circle. */
const maxHops = 100

/** Finds what a target names. Undefined if there is nothing; that was reported where it is asked for. */
export function openTarget(loading: Loading, target: Target, at: Span): Located | undefined {
  const site = siteOf(at)
  const includedAt = [site, ...at.origin.includedAt]
  const isAgain = at.origin.includedAt.some((one) => isSame(one, site))
  if (isAgain || includedAt.length > maxHops) {
    const hint = `${at.origin.source.file} → ${target.text}`
    const parameters = { target: target.text, chain: '' }
    loading.report.add({ code: 'WP_DEFINITION_INCLUDE_CYCLE', at, parameters, hint })
    return undefined
  }
  const source = loadSource(loading, target.file, includedAt)
  if ('problem' in source) {
    reportRefusal(loading, { ...target, refusal: source }, at)
    return undefined
  }
  if (source.content === undefined) return undefined
  const located = locate(loading, { node: source.content, origin: { source, includedAt } }, target.pointer)
  if (located === 'nothing') {
    const parameters = { pointer: `/${target.pointer.join('/')}`, file: target.file }
    loading.report.add({
      code: 'WP_DEFINITION_INCLUDE_POINTER',
      at,
      parameters,
      hint: suggestKey(source.content, target, loading.report),
    })
    return undefined
  }
  return located
}

function isSame(one: IncludeSite, other: IncludeSite): boolean {
  return one.file === other.file && one.line === other.line && one.column === other.column
}

function suggestKey(content: YamlNode | null, { pointer }: Target, report: Report): string | undefined {
  const keys = isMap(content) ? content.items.map(({ key }) => String(isScalar(key) ? key.value : '')) : []
  const near = pointer.length === 1 ? report.findNearest(pointer[0]!, keys) : undefined
  return near === undefined ? undefined : `Did you mean "#/${near}"?`
}

/** Follows the keys through maps, lists, aliases and further includes; undefined if one of those was reported. */
function locate(loading: Loading, start: Located, pointer: readonly string[]): Located | 'nothing' | undefined {
  let at: Located | undefined = start
  for (const key of pointer) {
    at = settle(loading, at)
    if (at === undefined) return undefined
    const { node, origin }: Located = at
    const child = childOf(node, key)
    if (child === undefined) return 'nothing'
    at = { node: child, origin }
  }
  return at
}

/** The map or list that aliases and includes lead to. */
function settle(loading: Loading, start: Located): Located | undefined {
  let at: Located | undefined = start
  for (let hops = 0; hops < maxHops; hops += 1) {
    const { node, origin }: Located = at
    if (isAlias(node)) {
      at = { node: origin.source.aliases.get(node) ?? null, origin }
    } else if (isScalar(node) && node.tag === '!include') {
      const span = spanOfInclude(node, origin)
      const target = parseTarget(loading, String(node.value), span)
      at = target === undefined ? undefined : openTarget(loading, target, span)
      if (at === undefined) return undefined
    } else {
      return at
    }
  }
  return undefined
}

function childOf(node: YamlNode | null, key: string): YamlNode | null | undefined {
  if (isSeq(node))
    return /^(0|[1-9]\d{0,8})$/.test(key) ? ((node.items as YamlNode[])[Number(key)] ?? undefined) : undefined
  if (!isMap(node)) return undefined
  const pair = node.items.find(({ key: name }) => isScalar(name) && String(name.source ?? name.value) === key)
  return pair === undefined ? undefined : ((pair.value ?? null) as YamlNode | null)
}

/** From the tag to the end of what it names. */
export function spanOfInclude(node: YamlNode, origin: Origin): Span {
  const [start = 0, end = start] = node.range ?? []
  return { origin, start: findBefore(origin, '!include', start), end }
}

/** Where a tag stands that belongs to the value at an offset; the offset itself if it is not near. */
export function findBefore({ source }: Origin, tag: string, offset: number): number {
  const from = Math.max(0, offset - 500)
  const found = source.text.slice(from, offset + tag.length).lastIndexOf(tag)
  return found === -1 ? offset : from + found
}

function reportRefusal(loading: Loading, { file, text, refusal }: Target & { refusal: Refusal }, at: Span): void {
  if (refusal.problem === 'outside') {
    loading.report.add({ code: 'WP_DEFINITION_INCLUDE_OUTSIDE', at, parameters: { target: text } })
  } else if (refusal.problem === 'refused') {
    const { reason, hint } = refusal
    loading.report.add({ code: 'WP_DEFINITION_FILE_REFUSED', at, parameters: { file, reason }, hint })
  } else {
    const hint = suggestFile(loading, file)
    loading.report.add({ code: 'WP_DEFINITION_INCLUDE_MISSING', at, parameters: { file }, hint })
  }
}

function suggestFile(loading: Loading, file: string): string | undefined {
  if (isLink(loading.folder, file)) return `${file} is a broken symbolic link`
  const near = loading.report.findNearest(path.posix.basename(file), filesBeside(loading, file))
  return near === undefined ? undefined : `Did you mean ${path.posix.join(path.posix.dirname(file), near)}?`
}

/** Not looked for before they are asked for. */
function* filesBeside({ folder }: Loading, file: string): Iterable<string> {
  try {
    const names = readdirSync(path.join(folder.realRoot, path.posix.dirname(file)))
    const own = path.posix.basename(file) // there again, perhaps
    yield* names.filter((name) => /\.(ya?ml|json)$/.test(name) && name !== own).slice(0, 1000)
  } catch {
    // A folder that is not there has no files.
  }
}
