import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { formatDiagnostics, type Diagnostic } from '../../src/kit/index.ts'
import { textWidth } from '../../src/kit/text.ts'

const plain = { colour: false, width: 100 }

function makeDiagnostic(changes: Partial<Diagnostic> = {}): Diagnostic {
  return {
    code: 'WP_ROOM_WHAT',
    severity: 'error',
    message: 'There is no "b"',
    file: 'a.yml',
    range: { start: { line: 3, column: 4 }, end: { line: 3, column: 5 } },
    source: 'a: b',
    ...changes,
  }
}

/** The lines that are printed for one problem. */
function format(changes: Partial<Diagnostic>, options = plain): string[] {
  return formatDiagnostics([makeDiagnostic(changes)], options).split('\n')
}

suite('the text of diagnostics', () => {
  test('underlines the source and appends the code to the hint', () => {
    const includedAt = [
      { file: 'b.yml', line: 1, column: 2 },
      { file: 'c.yml', line: 3, column: 4 },
    ]
    assert.deepEqual(format({ hint: 'Write a', includedAt }), [
      'a.yml:3:4  There is no "b"',
      '  a: b',
      '     ^',
      `  Write a${' '.repeat(62)}WP_ROOM_WHAT`,
      '  included at b.yml:1:2',
      '  included at c.yml:3:4',
    ])
  })

  test('several are separated by an empty line', () => {
    assert.equal(formatDiagnostics([makeDiagnostic(), makeDiagnostic()], plain).split('\n\n').length, 2)
    assert.equal(formatDiagnostics([], plain), '')
  })

  test('after a long hint, or without one, the code is on a separate line', () => {
    const code = `${' '.repeat(71)}WP_ROOM_WHAT`
    assert.deepEqual(format({ hint: 'x'.repeat(69) }).slice(3), [`  ${'x'.repeat(69)}`, code])
    assert.deepEqual(format({}).slice(3), [code])
  })

  test('a range over several lines ends with the first; one after the end of the line is one character wide', () => {
    const range = { start: { line: 1, column: 4 }, end: { line: 9, column: 1 } }
    assert.deepEqual(format({ source: 'a: bcd  ', range }).slice(1, 3), ['  a: bcd', '     ^^^'])
    const behind = { start: { line: 1, column: 5 }, end: { line: 1, column: 5 } }
    assert.deepEqual(format({ source: 'a: b', range: behind }).slice(1, 3), ['  a: b', '      ^'])
  })

  test('without a source no range is shown', () => {
    assert.deepEqual(format({ source: '' }).length, 2)
  })

  test('a long line is cut around its range, to the width', () => {
    const source = `${'a'.repeat(500)}HERE${'b'.repeat(500)}`
    const range = { start: { line: 1, column: 501 }, end: { line: 1, column: 505 } }
    const [, shown = '', marks = ''] = format({ source, range }, { colour: false, width: 60 })
    assert.equal(shown.length, 60)
    assert.match(shown, /^  …a+HEREb+…$/)
    assert.equal(shown.slice(marks.indexOf('^'), marks.lastIndexOf('^') + 1), 'HERE')
  })

  test('a narrow terminal moves the code to the left', () => {
    assert.equal(format({}, { colour: false, width: 60 })[3]?.indexOf('WP_'), 31)
    assert.equal(format({}, { colour: false, width: 10 })[3]?.indexOf('WP_'), 2)
    const [, , , long = ''] = format({ code: 'WP_'.padEnd(33, 'X') }, { colour: false, width: 60 })
    assert.deepEqual([long.length, long.indexOf('WP_')], [60, 27])
  })

  test('colour marks the place and the word warning, and no other text', () => {
    const diagnostic = makeDiagnostic({ severity: 'warning', hint: 'Write a' })
    const coloured = formatDiagnostics([diagnostic], { colour: true, width: 100 })
    // oxlint-disable-next-line no-control-regex -- the colours themselves
    assert.match(coloured, /^\u001b\[36ma\.yml:3:4\u001b\[39m {2}\u001b\[33mwarning\u001b\[39m {2}There/)
    assert.equal(stripVTControlCharacters(coloured), formatDiagnostics([diagnostic], plain))
  })

  test('no text of a file or name controls the terminal, and columns are correct after a tab', () => {
    const text = formatDiagnostics([makeDiagnostic({ message: 'a\u001b[2Jb\nc', source: '\t: b\u0007' })], plain)
    assert.deepEqual(text.split('\n').slice(0, 3), ['a.yml:3:4  a [2Jb c', '   : b', '     ^'])
  })

  test('wide characters are underlined by two columns and move the text after them', () => {
    const range = { start: { line: 1, column: 5 }, end: { line: 1, column: 8 } }
    assert.deepEqual(format({ source: '日本: abc', range }).slice(1, 3), ['  日本: abc', '        ^^^'])
    const name = { start: { line: 1, column: 1 }, end: { line: 1, column: 3 } }
    assert.deepEqual(format({ source: '日本: abc', range: name }).slice(1, 3), ['  日本: abc', '  ^^^^'])
  })

  test('a long line is cut around the mark, however wide its characters are', () => {
    for (const filler of ['x', '日', '😀', '\u0301', '\u200d']) {
      const source = `${filler.repeat(500)} here ${filler.repeat(500)}`
      const start = source.indexOf('here')
      const range = { start: { line: 1, column: start + 1 }, end: { line: 1, column: start + 5 } }
      for (const width of [40, 60, 80, 120]) {
        const [, line = '', marks = ''] = format({ source, range }, { colour: false, width })
        const columns = (text: string) => textWidth(text)
        assert.ok(columns(line) <= width, `${columns(line)} of ${width} columns`)
        assert.equal(marks.trim(), '^^^^')
        assert.equal(columns(line.slice(0, line.indexOf('here'))), marks.indexOf('^'))
        assert.doesNotMatch(line, /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/)
      }
    }
  })

  test('a long hint is broken at its spaces', () => {
    const lines = format({ hint: 'word '.repeat(30).trim() }, { colour: false, width: 60 })
    assert.ok(lines.every((line) => line.length <= 60))
    assert.equal(lines.slice(3, -1).join(' ').split('word').length - 1 + (lines.at(-1)!.split('word').length - 1), 30)
  })
})
