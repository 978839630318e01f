import { unescapeStep } from '../schema/index.ts'
import type { Span } from './source.ts'

/** A value of the definition with its location. Aliases are followed and includes replaced by their contents. */
export type Node = MapNode | ListNode | ScalarNode | BrokenNode

interface NodeBase extends Span {
  /** Set if the value was included. */
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
  /** Set if the key seems to be the rest of an unquoted text that a comma ended. */
  readonly cut?: CutText
}

export interface CutText {
  /** The full text. */
  readonly text: string
  /** Whether this is the first such key of the text. */
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

/** A value whose problem was already reported. Do not report it again. */
export interface BrokenNode extends NodeBase {
  readonly kind: 'broken'
}

/** Returns the hint for an unknown key if a comma split the text. */
export function hintForCut(cut: CutText | undefined): string | undefined {
  return cut && `A comma ends an unquoted text between { and }. Quote it: ${JSON.stringify(cut.text)}`
}

/** Returns the value below a key; undefined if there is none or the node is not a map. */
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

/** Returns the node at a JSON pointer, or the closest enclosing one that is written. */
export function findNode(start: Node, pointer: string): Node {
  let node = start
  for (const part of pointer.split('/').slice(1)) {
    const key = unescapeStep(part)
    node = (node.kind === 'list' ? itemsOf(node)[Number(key)] : valueOf(node, key)) ?? node
  }
  return node
}

/** Returns the integers in a value beyond 2^53, of which numbers represent only some. */
export function inexactIntegers(node: Node): readonly ScalarNode[] {
  if (node.kind === 'list') return node.items.flatMap(inexactIntegers)
  if (node.kind === 'map') return [...node.entries.values()].flatMap(({ value }) => inexactIntegers(value))
  if (node.kind !== 'scalar' || !Number.isInteger(node.value) || Number.isSafeInteger(node.value)) return []
  return /^[-+]?\d+$/.test(sourceOf(node)) ? [node] : []
}

export const inexactHint = 'Write it as a string'

/** Returns the text of a scalar as it is written. */
export function sourceOf({ origin, start, end }: ScalarNode): string {
  return origin.source.text.slice(start, end)
}

/** Returns the plain JSON value. */
export function toValue(node: Node): unknown {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(toValue)
  if (node.kind === 'broken') return null
  return Object.fromEntries([...node.entries.values()].map(({ key, value }) => [key, toValue(value)]))
}

/** Describes a value for messages. */
export function describeNode(node: Node): string {
  if (node.kind !== 'scalar') return node.kind === 'list' ? 'a list' : 'a map'
  if (node.value === null) return 'empty'
  return typeof node.value === 'string' ? quote(node.value) : String(node.value)
}

export function quote(text: string): string {
  return text.length > 60 ? `"${text.slice(0, 59)}…"` : `"${text}"`
}
