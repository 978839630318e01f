// The Markdown of descriptions.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseMarkdown, type Block } from '../../src/backend/ui/markdown/parse-blocks.ts'
import { parseInline, plainText, type Inline } from '../../src/backend/ui/markdown/parse-inline.ts'

/** Blocks as short text. */
function show(blocks: readonly Block[]): unknown[] {
  return blocks.map((block) => {
    if (block.kind === 'line') return ['hr']
    if (block.kind === 'code') return ['pre', block.text]
    if (block.kind === 'quote') return ['quote', ...show(block.blocks)]
    if (block.kind === 'list') return [block.start ?? 'ul', ...block.items.map(show)]
    if (block.kind === 'heading') return [`h${block.level}`, inline(block.inside)]
    if (block.kind === 'paragraph') return inline(block.inside)
    const cells = [block.head, ...block.rows].map((row) =>
      row.map(({ align, inside }) => `${inline(inside)}${align === undefined ? '' : ` ${align}`}`),
    )
    return ['table', ...cells]
  })
}

function inline(all: readonly Inline[]): string {
  return all
    .map((one) => {
      if (typeof one === 'string') return one
      if (one.kind === 'break') return '<br>'
      if (one.kind === 'code') return `<code>${one.text}</code>`
      return `<${one.kind}${'href' in one ? ` ${one.href}` : ''}>${inline(one.inside)}</${one.kind}>`
    })
    .join('')
}

describe('Markdown', () => {
  const blocks: Record<string, [text: string, shown: unknown[]]> = {
    'paragraphs, whose lines are joined': ['a\nb  \nc\n\nd', ['a b<br>c', 'd']],
    headings: ['# A #\n## B *c*\nText\n\nUnder\n===', [['h1', 'A'], ['h2', 'B <em>c</em>'], 'Text', ['h1', 'Under']]],
    'what is no heading': ['#no\n\n####### seven', ['#no', '####### seven']],
    'lists, also nested and with paragraphs': [
      '- a\n  - b\n  - c\n- d\n  e\n\n  f\n\ng',
      [['ul', ['a', ['ul', ['b'], ['c']]], ['d e', 'f']], 'g'],
    ],
    'ordered lists, which keep their first number': ['3. a\n4. b', [[3, ['a'], ['b']]]],
    'a number at the beginning of a line': ['It was\n1999. A year', ['It was 1999. A year']],
    'a list right after a paragraph': ['Either:\n- a\n- b', ['Either:', ['ul', ['a'], ['b']]]],
    'fenced code with what looks like marks': [
      '```json\n{ "a": "*b*" }\n\n# c\n```\nd',
      [['pre', '{ "a": "*b*" }\n\n# c'], 'd'],
    ],
    'fenced code that does not end': ['~~~\na', [['pre', 'a']]],
    'indented code': ['    a\n      b\n\nc', [['pre', 'a\n  b'], 'c']],
    quotes: ['> a\n> - b\nc', [['quote', 'a', ['ul', ['b c']]]]],
    'a rule': ['a\n\n---\n\nb', ['a', ['hr'], 'b']],
    tables: [
      '| Code | Meaning |\n|:-----|--------:|\n| `a` | 1 \\| 2 |\n| b |\n\nc',
      [['table', ['Code left', 'Meaning right'], ['<code>a</code> left', '1 | 2 right'], ['b left', ' right']], 'c'],
    ],
    'a line with a bar that is no table': ['a | b\nc', ['a | b c']],
    'HTML as text': ['<b>a</b> <img src=x onerror=alert(1)>', ['<b>a</b> <img src=x onerror=alert(1)>']],
  }
  for (const [name, [text, shown]] of Object.entries(blocks))
    test(`reads ${name}`, () => assert.deepEqual(show(parseMarkdown(text)), shown))

  const inlines: Record<string, [text: string, shown: string]> = {
    emphasis: ['*a* **b** ***c*** _d_ __e__ ~~f~~', '<em>a</em> <strong>b</strong> <strong><em>c</em></strong> <em>d</em> <strong>e</strong> <del>f</del>'],
    'names with underscores and sums with stars as text': ['a_b_c 2 * 3 * 4', 'a_b_c 2 * 3 * 4'],
    'code with marks and backticks': ['`**a**` `` b`c `` `d', '<code>**a**</code> <code>b`c</code> `d'],
    'escaped marks': ['\\*a\\* \\[b\\](c)', '*a* [b](c)'],
    links: ['[a **b**](https://x.test/a_(b)?c=1 "Title")', '<link https://x.test/a_(b)?c=1>a <strong>b</strong></link>'],
    addresses: ['See https://x.test/a?b=1. <https://y.test> (http://z.test)', 'See <link https://x.test/a?b=1>https://x.test/a?b=1</link>. <link https://y.test>https://y.test</link> (<link http://z.test>http://z.test</link>)'],
    'paths of this server and mailboxes': ['[a](/docs) [b](#c) [d](mailto:e@x.test)', '<link /docs>a</link> <link #c>b</link> <link mailto:e@x.test>d</link>'],
    'images as links': ['![A cat](https://x.test/cat.png)', '<link https://x.test/cat.png>A cat</link>'],
    'no link in a link': ['[a https://x.test b](https://y.test)', '<link https://y.test>a https://x.test b</link>'],
  } // prettier-ignore
  for (const [name, [text, shown]] of Object.entries(inlines))
    test(`reads ${name}`, () => assert.equal(inline(parseInline(text)), shown))

  const unsafe = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\\script:alert(1)',
    '\u0001javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    '//elsewhere.test',
    '/\\elsewhere.test',
    'blob:https://x.test/1',
    'relative',
  ]
  for (const href of unsafe)
    test(`does not link to ${JSON.stringify(href)}`, () => {
      for (const text of [`[a](${href})`, `[a](<${href}>)`, `![a](${href})`, `<${href}>`])
        assert.doesNotMatch(inline(parseInline(text)), /<link/)
    })

  test('reads any text, in which every link is safe', () => {
    const part = fc.constantFrom(...'*_`~[](){}<>!#|-+>1.\\ \n'.split(''), '\n\n', '```', '**', '](', 'javascript:', 'https://x', '    ', '| - |', 'a')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        const hrefs = JSON.stringify(parseMarkdown(parts.join(''))).matchAll(/"href":"([^"]*)"/g)
        for (const [, href] of hrefs) assert.match(href!, /^(https?:|mailto:|[/#])/)
        assert.equal(typeof plainText(parts.join('')), 'string')
      }),
      { numRuns: 3000 },
    )
  }) // prettier-ignore

  test('text of 40 KB takes steps in proportion to its length', { timeout: 60_000 }, () => {
    for (const piece of ['[', '![', '`', '` ', '**a', '*a ', '_a ', '> ', '- ', '<', '](', '|-', '\\', '# ', '1. ', '~~a'])
      for (const end of ['', '\n']) parseMarkdown(`${piece}${end}`.repeat(40_000 / (piece.length + end.length)))
  }) // prettier-ignore

  test('a title has no marks', () => {
    assert.equal(plainText('## Lists **books** by `isbn`, see [docs](https://x.test)'), 'Lists books by isbn, see docs')
  })
})
