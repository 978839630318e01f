import { actionFile, type Files } from '../support/project-server.ts'

/** A description with everything that Markdown has here, and what must stay text. */
const description = `Takes a **payment** by card or transfer. It is final.

## How it works

1. Create a payment.
2. Wait for the event \`payment.done\`.
   - It may take *minutes*.

See [the guide](https://example.com/guide) or [this page](/docs), not [that](javascript:window.ran=true) <script>window.ran = true</script>.

### Fees

| Method | Fee | Days |
|:-------|----:|:----:|
| Card | 1.5 % | 1 |
| Transfer | 0.20 | 3 |

> Refunds keep the fee.

\`\`\`json
{ "amount": 100 }
\`\`\`
`

/** An API whose reference has one of everything. */
export const shop: Files = {
  'waypost.yml': `
config:
  title: Corner Shop
  docs: public
  description: 'Sell **books** and [get paid](https://example.com).'
routes:
  /payment:
    methods:
      GET:
        scopes: [payment, audit]
        description: Lists payments
        parameters:
          status: { type: array, items: { $ref: schema:///Status }, description: 'Only with one of these' }
          since: { type: string, format: date-time, examples: ['2027-01-31T12:00:00Z'] }
          page: { type: integer, minimum: 1, default: 1, deprecated: true }
        response: { type: array, items: { $ref: schema:///Payment } }
        action: src/list.ts
      POST:
        scopes: [payment]
        description: ${JSON.stringify(description)}
        request: Payment
        responses:
          201: Payment
          409: { type: object, description: 'Paid \`already\`', properties: { since: { type: string } } }
          4XX: { type: object, properties: { why: { type: string } } }
          default: { type: object, properties: { code: { type: integer } } }
        action: src/add.ts
  /payment/:payment_id:
    deprecated: 2027-01-31
    path: { payment_id: { type: string, format: uuid, description: 'From \`POST /payment\`' } }
    methods:
      GET: { public: true, description: Reads a payment, response: Payment, action: src/read.ts }
schema:
  Status:
    type: string
    enum: [open, paid, failed, refunded]
    description: 'Where it is: \`open\` until the bank says otherwise'
  Base:
    type: object
    required: [id, created]
    properties:
      id: { type: string, format: uuid, readOnly: true }
      created: { type: string, format: date-time, readOnly: true, description: When it arrived }
  Payment:
    allOf:
      - { $ref: schema:///Base }
      - type: object
        required: [amount, method]
        properties:
          amount: { type: integer, minimum: 1, maximum: 1000000, examples: [100, 2599], description: "In **cents**" }
          status: { $ref: schema:///Status, readOnly: true }
          method: { $ref: schema:///Method }
          payer: { anyOf: [{ $ref: schema:///Payer }, { type: 'null' }] }
          tags: { type: array, uniqueItems: true, maxItems: 5, items: { type: string, pattern: '^[a-z]+$' } }
          secret: { type: string, writeOnly: true, description: Never returned }
          note: { type: string, deprecated: true, description: Use tags }
          meta: { type: object, patternProperties: { '^x-': { type: string } }, additionalProperties: false }
          range: { type: array, prefixItems: [{ type: integer }, { type: integer }], items: false, minItems: 2 }
          country: { enum: [AT, BE, BG, CY, CZ, DE, DK, EE, ES, FI, FR, GR, HR, HU, IE] }
  Payer: { type: object, required: [name], properties: { name: { type: string, examples: [Ann] }, friends: { type: array, items: { $ref: schema:///Payer } } } }
  Method:
    description: How it is paid
    oneOf:
      - { type: object, title: Card, required: [kind, number], properties: { kind: { const: card }, number: { type: string, pattern: '^[0-9]{16}$', examples: ['4242424242424242'] } } }
      - { type: object, title: Transfer, required: [kind, iban], properties: { kind: { const: transfer }, iban: { type: string, examples: [DE89370400440532013000] } } }
scope: { payment: { description: 'To *take* payments' }, audit: { description: To read everything } }
`,
  'src/list.ts': actionFile('return []'),
  'src/add.ts': actionFile('return context.respond(201, request.body)'),
  'src/read.ts': actionFile('return {}'),
}
