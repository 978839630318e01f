import type { Span } from './source.ts'

/** A value of the definition with its place: aliases are followed, included files stand where they were included. */
export type Node = MapNode | ListNode | ScalarNode | BrokenNode

interface NodeBase extends Span {
  /** Set where the value was included. */
  readonly included?: boolean
}

export interface MapNode extends NodeBase {
  readonly kind: 'map'
  readonly entries: ReadonlyMap<string, Entry>
}

export interface Entry {
  readonly key: string
  readonly keySpan: Span
  readonly value: Node
  /** Set where the key seems to be the rest of an unquoted text that a comma ended. */
  readonly cut?: CutText
}

export interface CutText {
  /** All of the text. */
  readonly text: string
  /** Of several such keys the first one. */
  readonly isFirst: boolean
}

export interface ListNode extends NodeBase {
  readonly kind: 'list'
  readonly items: readonly Node[]
}

export interface ScalarNode extends NodeBase {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
}

/** Stands where a problem was reported already: whoever meets it says nothing more. */
export interface BrokenNode extends NodeBase {
  readonly kind: 'broken'
}

/** What to do about a key that is not known, if a comma made it one. */
export function hintForCut(cut: CutText | undefined): string | undefined {
  return cut && `A comma ends an unquoted text between { and }. Quote it: ${JSON.stringify(cut.text)}`
}

/** The value below a key; undefined if there is none or if the node is no map. */
export function valueOf(node: Node | undefined, key: string): Node | undefined {
  return node?.kind === 'map' ? node.entries.get(key)?.value : undefined
}

export function entriesOf(node: Node | undefined): readonly Entry[] {
  return node?.kind === 'map' ? [...node.entries.values()] : []
}

export function itemsOf(node: Node | undefined): readonly Node[] {
  return node?.kind === 'list' ? node.items : []
}

export function textOf(node: Node | undefined): string | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined
}

export function textsOf(node: Node | undefined): string[] {
  return itemsOf(node).flatMap((item) => textOf(item) ?? [])
}

export function isEmpty(node: Node | undefined): boolean {
  return node?.kind === 'scalar' && node.value === null
}

/** The plain value, as JSON has it. */
export function toValue(node: Node): unknown {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(toValue)
  if (node.kind === 'broken') return null
  return Object.fromEntries([...node.entries.values()].map(({ key, value }) => [key, toValue(value)]))
}

/** How a message calls a value. */
export function describeNode(node: Node): string {
  if (node.kind !== 'scalar') return node.kind === 'list' ? 'a list' : 'a map'
  if (node.value === null) return 'empty'
  return typeof node.value === 'string' ? quote(node.value) : String(node.value)
}

export function quote(text: string): string {
  return text.length > 60 ? `"${text.slice(0, 59)}…"` : `"${text}"`
}
