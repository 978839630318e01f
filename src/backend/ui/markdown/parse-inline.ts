// Markdown within a line (CommonMark): code, emphasis, links. Everything else, such as HTML, is text.

export type Inline =
  | string
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'break' }
  | { readonly kind: 'strong' | 'em' | 'del'; readonly inside: readonly Inline[] }
  | { readonly kind: 'link'; readonly href: string; readonly inside: readonly Inline[] }

// Lengths are limited, so that text with many opening marks takes no longer than other text.
const code = /(?<!`)(?<ticks>`{1,20})(?!`)(?<code>[^]{1,2000}?)(?<!`)\k<ticks>(?!`)/
const escaped = /\\(?<escaped>[!-/:-@[-`{-~])/
const lineBreak = /(?<break> {2,8}\n|\\\n)/
const link =
  /!?\[(?<label>(?:\\.|`[^`\n]{1,200}`|\[[^[\]\\`]{0,200}\]|[^[\]\\`]){0,500})\]\(\s{0,9}(?<href><[^<>\n]{0,2000}>|(?:\([^\s()]{0,500}\)|[^\s()<>]){0,2000})(?:\s{1,9}(?:"[^"]{0,300}"|'[^']{0,300}'))?\s{0,9}\)/
const bracketed = /<(?<bracketed>(?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/
const bare = /(?<![\w/:])(?<bare>https?:\/\/[^\s<>`"]{1,2000})/
const inner = String.raw`(?:\\.|${'`'}[^${'`'}\n]{1,200}${'`'}|[^\\${'`'}]){1,1000}?`
const strong = new RegExp(
  String.raw`\*\*(?=\S)(?<strong>${inner})(?<=\S)\*\*(?!\*)|(?<![\p{L}\p{N}_])__(?=\S)(?<strong2>${inner})(?<=\S)__(?![\p{L}\p{N}_])`,
)
const em = new RegExp(
  String.raw`\*(?=[^\s*])(?<em>${inner})(?<=[^\s*])\*(?!\*)|(?<![\p{L}\p{N}_])_(?=[^\s_])(?<em2>${inner})(?<=[^\s_])_(?![\p{L}\p{N}_])`,
)
const del = new RegExp(String.raw`~~(?=\S)(?<del>${inner})(?<=\S)~~`)

const marks = new RegExp(
  [code, escaped, lineBreak, link, bracketed, bare, strong, em, del].map(({ source }) => source).join('|'),
  'gsu',
)

const maxDepth = 5

/** Reads text with marks. */
export function parseInline(text: string, depth = 0): readonly Inline[] {
  if (depth > maxDepth) return [text]
  const found: Inline[] = []
  let at = 0
  for (const match of text.matchAll(marks)) {
    if (match.index > at) found.push(softly(text.slice(at, match.index)))
    found.push(...readMark(match, depth))
    at = match.index + match[0].length
  }
  if (at < text.length) found.push(softly(text.slice(at)))
  return found
}

function readMark(match: RegExpExecArray, depth: number): readonly Inline[] {
  const groups = match.groups as Readonly<Record<string, string | undefined>>
  const within = (inside: string) => parseInline(inside, depth + 1)
  if (groups['code'] !== undefined) return [{ kind: 'code', text: trimCode(groups['code']) }]
  if (groups['escaped'] !== undefined) return [groups['escaped']]
  if (groups['break'] !== undefined) return [{ kind: 'break' }]
  if (groups['href'] !== undefined) return readLink(match[0], groups['href'], within(groups['label'] ?? ''))
  if (groups['bracketed'] !== undefined)
    return [{ kind: 'link', href: groups['bracketed'], inside: [groups['bracketed'].replace(/^mailto:/, '')] }]
  if (groups['bare'] !== undefined) return readBare(groups['bare'])
  for (const kind of ['strong', 'em', 'del'] as const) {
    const inside = groups[kind] ?? groups[`${kind}2`]
    if (inside !== undefined) return [{ kind, inside: within(inside) }]
  }
  return [match[0]]
}

/** An image becomes a link: pages load nothing from elsewhere. A link that is not safe stays as it was written. */
function readLink(whole: string, href: string, inside: readonly Inline[]): readonly Inline[] {
  const target = unescape(href.replace(/^<(.*)>$/s, '$1'))
  if (!isSafe(target)) return [whole]
  // There are no links in links.
  return [{ kind: 'link', href: target, inside: inside.length === 0 ? [target] : withoutLinks(inside) }]
}

function withoutLinks(all: readonly Inline[]): readonly Inline[] {
  return all.flatMap((one) => {
    if (typeof one === 'string' || !('inside' in one)) return [one]
    const inside = withoutLinks(one.inside)
    return one.kind === 'link' ? inside : [{ ...one, inside }]
  })
}

/** The dot or the bracket after an address is not part of it. */
function readBare(text: string): readonly Inline[] {
  const tail = /[.,;:!?'*_~]+$/.exec(text)?.[0] ?? ''
  let href = text.slice(0, text.length - tail.length)
  while (href.endsWith(')') && !href.includes('(')) href = href.slice(0, -1)
  const rest = text.slice(href.length)
  return [{ kind: 'link', href, inside: [href] }, ...(rest === '' ? [] : [rest])]
}

const safe = new Set(['http:', 'https:', 'mailto:'])

/** Whether a link can be followed: an address on the web or of a mailbox, or a path of this server. */
function isSafe(href: string): boolean {
  if (/^[/#](?![/\\])/.test(href)) return true
  const url = URL.parse(href)
  return url !== null && safe.has(url.protocol)
}

function unescape(text: string): string {
  return text.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
}

/** A blank on both sides lets code begin or end with a backtick. */
function trimCode(text: string): string {
  const line = text.replaceAll('\n', ' ')
  return /^ .*[^ ].* $/.test(line) ? line.slice(1, -1) : line
}

/** The end of a line is a blank. */
function softly(text: string): string {
  return text.replaceAll(/ ?\n */g, ' ')
}

/** Text without its marks. */
export function plainText(text: string): string {
  return textOf(parseInline(text.replace(/^#{1,6}\s+/, '')))
}

function textOf(all: readonly Inline[]): string {
  return all
    .map((one) => {
      if (typeof one === 'string') return one
      if ('inside' in one) return textOf(one.inside)
      return one.kind === 'code' ? one.text : ' '
    })
    .join('')
}
