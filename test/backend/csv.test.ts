import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readField, unset, writeLine } from '../../src/backend/rows/csv/csv-values.ts'
import { CsvProblem, parseCsv } from '../../src/backend/rows/csv/parse-csv.ts'

async function parse(text: string | Uint8Array, size = 7): Promise<readonly (readonly unknown[])[]> {
  const bytes = Buffer.from(text as string)
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
  const records = []
  for await (const part of parseCsv(chunks())) records.push(...part)
  return records.map(({ line, fields }) => [line, ...fields.map((one) => (one.isQuoted ? [one.text] : one.text))])
}

describe('a CSV file', () => {
  const forms = {
    commas: 'a,b\r\n1,"x,\r\n""y"""\r\n\r\n,""\r\n',
    'a BOM': '\uFEFFa,b\n1,"x,\r\n""y"""\n\n,""',
    semicolons: 'a;b\n1;"x,\r\n""y"""\n\n;""\n',
    tabs: 'a\tb\r1\t"x,\r\n""y"""\r\r\t""\r',
  }
  for (const [name, text] of Object.entries(forms)) {
    test(`is read with ${name}, in pieces of any size`, async () => {
      const expected = [
        [1, 'a', 'b'],
        [2, '1', ['x,\r\n"y"']],
        [5, '', ['']],
      ]
      for (const size of [1, 2, 3, 7, 1000]) assert.deepEqual(await parse(text, size), expected, `${name} ${size}`)
    })
  }

  test('is refused with the line of the problem', async () => {
    for (const [text, line, message] of [
      ['a,b\n1,"x\n', 2, /not closed/],
      ['a,b\n1,2\n"x"y,2\n', 3, /after a closing quote/],
      [Buffer.from([0x61, 0x0a, 0xff, 0xfe]), 1, /not UTF-8/],
      [`a\n${'x'.repeat(1024 * 1024 + 1)}\n`, 2, /more than/],
      [`${'a,'.repeat(1001)}\n`, 1, /more than 1,000 values/],
    ] as const)
      await assert.rejects(parse(text, 64 * 1024), (error) => {
        assert.ok(error instanceof CsvProblem)
        assert.match(error.message, message)
        assert.equal(error.line, line)
        return true
      })
  })

  test('with one column has a row in each line, also in an empty one', async () => {
    assert.deepEqual(await parse('\n\na\r\nx\r\n\r\n""\r\n\r\n'), [[3, 'a'], [4, 'x'], [5, ''], [6, ['']], [7, '']]) // prettier-ignore
    assert.deepEqual(await parse('a\n'), [[1, 'a']])
  })

  test('may have a value of a megabyte', async () => {
    const [, [, value]] = (await parse(`a\n"${'x\n'.repeat(512 * 1024)}"`, 64 * 1024)) as [unknown, [number, [string]]]
    assert.equal(value[0].length, 1024 * 1024)
  })
})

describe('the values of a CSV file', () => {
  test('are the same after an export and an import, also those that look like formulas', async () => {
    const columns = [
      { type: 'text', null: true },
      { type: 'number' },
      { type: 'json', null: true },
      { type: 'boolean' },
      { type: 'bigint' },
    ] as const
    const texts = [
      '',
      null,
      '=1+1',
      "'=1",
      "''@x",
      '+49 30',
      '-5',
      '@a',
      '\tx',
      ' x ',
      'a,b;"c"\r\nd',
      "it's",
      "'plain",
    ]
    const rows = texts.map((text, index) => [
      text,
      -1 - 1.5 * index,
      '{"a":"=1"}',
      index % 2 === 0,
      '-9007199254740993',
    ])
    const file = rows.map((row) => writeLine(row)).join('')
    const read = (await parse(`a,b,c,d,e\r\n${file}`)).slice(1).map(([, ...fields]) =>
      fields.map((one, index) => {
        const field = Array.isArray(one)
          ? { text: String(one[0]), isQuoted: true }
          : { text: String(one), isQuoted: false }
        const value = readField(field, columns[index]!)
        return index === 2 ? JSON.stringify(value) : value
      }),
    )
    assert.deepEqual(read, rows)
    for (const line of file.split(/\r\n(?!d)/)) assert.doesNotMatch(line, /^"?[=+@\t](?!\d+,)/)
  })

  test('without quotes and text are null, a default, or an empty text', () => {
    const empty = { text: '', isQuoted: false }
    assert.equal(readField(empty, { type: 'text', null: true, default: true }), null)
    assert.equal(readField(empty, { type: 'text', default: true }), unset)
    assert.equal(readField(empty, { type: 'text' }), '')
    assert.equal(readField({ text: '', isQuoted: true }, { type: 'text', null: true }), '')
  })

  test('are read as people write them', () => {
    const read = (text: string, type: 'boolean' | 'timestamp' | 'integer') =>
      readField({ text, isQuoted: false }, { type })
    assert.deepEqual(
      ['Yes', 'f', 'maybe'].map((text) => read(text, 'boolean')),
      [true, false, 'maybe'],
    )
    assert.equal(read('2026-11-29 10:00:00', 'timestamp'), '2026-11-29T10:00:00Z')
    assert.deepEqual(
      ['12', 'x', '1e3'].map((text) => read(text, 'integer')),
      [12, 'x', 1000],
    )
  })
})
