import {
  any,
  bool,
  choice,
  double,
  encodeDocument,
  int64,
  list,
  message,
  named,
  string,
  within,
} from './gnostic';
import type { Fields, Type } from './gnostic';

const extensions = {
  schema: 36,
  operation: 13,
  parameter: 14,
  body: 4,
  response: 5,
  mediaType: 5,
  pathItem: 14,
};

const reference = message(() => ({ $ref: [1, string], summary: [2, string], description: [3, string] }));

/** The thing itself, or where it is. */
const orReference = (type: () => Type): Type =>
  choice((value) =>
    typeof (value as { $ref?: unknown } | null)?.$ref === 'string' ? within(2, reference) : within(1, type()),
  );
const schema: Type = orReference(() => schemaMessage);

/** Only scalars have a form; others are empty, as gnostic makes them. */
const defaultValue: Type = choice((value) => {
  switch (typeof value) {
    case 'number':
      return within(1, double);
    case 'boolean':
      return within(2, bool);
    case 'string':
      return within(3, string);
    default:
      return message(() => ({}));
  }
});

const schemaMessage = message(
  () => ({
    nullable: [1, bool],
    readOnly: [3, bool],
    writeOnly: [4, bool],
    example: [7, any],
    deprecated: [8, bool],
    title: [9, string],
    multipleOf: [10, double],
    maximum: [11, double],
    exclusiveMaximum: [12, bool],
    minimum: [13, double],
    exclusiveMinimum: [14, bool],
    maxLength: [15, int64],
    minLength: [16, int64],
    pattern: [17, string],
    maxItems: [18, int64],
    minItems: [19, int64],
    uniqueItems: [20, bool],
    maxProperties: [21, int64],
    minProperties: [22, int64],
    required: [23, list(string)],
    enum: [24, list(any)],
    type: [25, string],
    allOf: [26, list(schema)],
    oneOf: [27, list(schema)],
    anyOf: [28, list(schema)],
    not: [29, schemaMessage],
    items: [30, within(1, list(schema))],
    properties: [31, within(1, named(schema))],
    additionalProperties: [
      32,
      choice((value) => (typeof value === 'boolean' ? within(2, bool) : within(1, schema))),
    ],
    default: [33, defaultValue],
    description: [34, string],
    format: [35, string],
  }),
  extensions.schema,
);

const content = within(
  1,
  named(message(() => ({ schema: [1, schema], example: [2, any] }), extensions.mediaType)),
);

const parameter = orReference(() => parameterMessage);
const parameterMessage = message(
  () => ({
    name: [1, string],
    in: [2, string],
    description: [3, string],
    required: [4, bool],
    deprecated: [5, bool],
    allowEmptyValue: [6, bool],
    style: [7, string],
    explode: [8, bool],
    allowReserved: [9, bool],
    schema: [10, schema],
    example: [11, any],
    content: [13, content],
  }),
  extensions.parameter,
);

const requestBody = orReference(() => requestBodyMessage);
const requestBodyMessage = message(
  () => ({ description: [1, string], content: [2, content], required: [3, bool] }),
  extensions.body,
);

const response = orReference(() => responseMessage);
const responseMessage = message(
  () => ({ description: [1, string], content: [3, content] }),
  extensions.response,
);

const security = list(within(1, named(within(1, list(string)))));

const operation = message(
  () => ({
    tags: [1, list(string)],
    summary: [2, string],
    description: [3, string],
    operationId: [5, string],
    parameters: [6, list(parameter)],
    requestBody: [7, requestBody],
    responses: [8, within(2, named(response))],
    deprecated: [10, bool],
    security: [11, security],
  }),
  extensions.operation,
);

const pathItem = message(
  () => ({
    $ref: [1, string],
    summary: [2, string],
    description: [3, string],
    get: [4, operation],
    put: [5, operation],
    post: [6, operation],
    delete: [7, operation],
    options: [8, operation],
    head: [9, operation],
    patch: [10, operation],
    trace: [11, operation],
    parameters: [13, list(parameter)],
  }),
  extensions.pathItem,
);

const securityScheme = within(
  1,
  message(() => ({
    type: [1, string],
    description: [2, string],
    name: [3, string],
    in: [4, string],
    scheme: [5, string],
  })),
);

const document: Fields = {
  openapi: [1, string],
  info: [2, message(() => ({ title: [1, string], description: [2, string], version: [6, string] }))],
  paths: [4, within(1, named(pathItem))],
  components: [
    5,
    message(() => ({
      schemas: [1, within(1, named(schema))],
      securitySchemes: [7, within(1, named(securityScheme))],
    })),
  ],
  security: [6, security],
};

/** An OpenAPI v3 document in gnostic's protobuf form. Source: proto/openapi/v3. */
export const encodeOpenApiV3 = (value: object): Buffer => encodeDocument(value, document);
