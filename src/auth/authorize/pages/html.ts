/** Markup that needs no more escaping. `html` makes it. */
export class Html {
  readonly #markup: string

  private constructor(markup: string) {
    this.#markup = markup
  }

  /** Whatever stands in a template is escaped, unless it is markup already. */
  static of(strings: readonly string[], values: readonly HtmlValue[]): Html {
    return new Html(strings.map((text, index) => (index === 0 ? text : write(values[index - 1]) + text)).join(''))
  }

  toString(): string {
    return this.#markup
  }
}

/** What may stand in a template: text is escaped, a list is written without separators, undefined is nothing. */
export type HtmlValue = string | Html | readonly Html[] | undefined

/**
 * A template of HTML that escapes what is put into it. Text may stand between tags and in quoted attributes, nowhere
 * else: not in a tag's name, an unquoted attribute, a style or a script.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return Html.of(strings, values)
}

/** Takes text for markup as it is: only what was written here, never what came from elsewhere. */
export function trustMarkup(markup: string): Html {
  return Html.of([markup], [])
}

function write(value: HtmlValue): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return escape(value)
  return value instanceof Html ? value.toString() : value.map(String).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"'`]/g, (character) => entities[character]!)
}
