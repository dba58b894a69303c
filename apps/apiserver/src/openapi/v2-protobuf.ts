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

/** What items and parameters outside of the body have in common, numbered from a first field on. */
const primitive = (first: number): Fields => ({
  type: [first, string],
  format: [first + 1, string],
  items: [first + 2, items],
  collectionFormat: [first + 3, string],
  default: [first + 4, any],
  maximum: [first + 5, double],
  exclusiveMaximum: [first + 6, bool],
  minimum: [first + 7, double],
  exclusiveMinimum: [first + 8, bool],
  maxLength: [first + 9, int64],
  minLength: [first + 10, int64],
  pattern: [first + 11, string],
  maxItems: [first + 12, int64],
  minItems: [first + 13, int64],
  uniqueItems: [first + 14, bool],
  enum: [first + 15, list(any)],
  multipleOf: [first + 16, double],
});

const items: Type = message(() => primitive(1), 18);

const schema: Type = message(
  () => ({
    $ref: [1, string],
    format: [2, string],
    title: [3, string],
    description: [4, string],
    default: [5, any],
    multipleOf: [6, double],
    maximum: [7, double],
    exclusiveMaximum: [8, bool],
    minimum: [9, double],
    exclusiveMinimum: [10, bool],
    maxLength: [11, int64],
    minLength: [12, int64],
    pattern: [13, string],
    maxItems: [14, int64],
    minItems: [15, int64],
    uniqueItems: [16, bool],
    maxProperties: [17, int64],
    minProperties: [18, int64],
    required: [19, list(string)],
    enum: [20, list(any)],
    additionalProperties: [
      21,
      choice((value) => (typeof value === 'boolean' ? within(2, bool) : within(1, schema))),
    ],
    type: [22, within(1, list(string))],
    items: [23, within(1, list(schema))],
    allOf: [24, list(schema)],
    properties: [25, within(1, named(schema))],
    discriminator: [26, string],
    readOnly: [27, bool],
    example: [30, any],
  }),
  31,
);

const bodyParameter = message(
  () => ({
    description: [1, string],
    name: [2, string],
    in: [3, string],
    required: [4, bool],
    schema: [5, schema],
  }),
  6,
);
const headerParameter = message(
  () => ({
    required: [1, bool],
    in: [2, string],
    description: [3, string],
    name: [4, string],
    ...primitive(5),
  }),
  22,
);
const queryParameter = message(
  () => ({
    required: [1, bool],
    in: [2, string],
    description: [3, string],
    name: [4, string],
    allowEmptyValue: [5, bool],
    ...primitive(6),
  }),
  23,
);
const reference = message(() => ({ $ref: [1, string], description: [2, string] }));

/** By where the parameter is: in the body, the path, the query or a header. */
const parameter: Type = choice((value) => {
  const { in: place, $ref } = value as { in?: string; $ref?: string };
  if ($ref !== undefined) return within(2, reference);
  if (place === 'body') return within(1, within(1, bodyParameter));
  if (place === 'query') return within(1, within(2, within(3, queryParameter)));
  return within(1, within(2, within(place === 'header' ? 1 : 4, headerParameter)));
});

const response = message(() => ({ description: [1, string], schema: [2, within(1, schema)] }), 5);

const operation = message(
  () => ({
    tags: [1, list(string)],
    summary: [2, string],
    description: [3, string],
    operationId: [5, string],
    produces: [6, list(string)],
    consumes: [7, list(string)],
    parameters: [8, list(parameter)],
    responses: [9, within(1, named(within(1, response)))],
    schemes: [10, list(string)],
    deprecated: [11, bool],
    security: [12, list(within(1, named(within(1, list(string)))))],
  }),
  13,
);

const pathItem = message(
  () => ({
    $ref: [1, string],
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    options: [6, operation],
    head: [7, operation],
    patch: [8, operation],
    parameters: [9, list(parameter)],
  }),
  10,
);

const apiKey = message(
  () => ({ type: [1, string], name: [2, string], in: [3, string], description: [4, string] }),
  5,
);

const document: Fields = {
  swagger: [1, string],
  info: [2, message(() => ({ title: [1, string], version: [2, string], description: [3, string] }), 7)],
  host: [3, string],
  basePath: [4, string],
  schemes: [5, list(string)],
  consumes: [6, list(string)],
  produces: [7, list(string)],
  paths: [8, within(2, named(pathItem))],
  definitions: [9, within(1, named(schema))],
  security: [12, list(within(1, named(within(1, list(string)))))],
  securityDefinitions: [13, within(1, named(within(2, apiKey)))],
};

/** An OpenAPI v2 document in gnostic's protobuf form. Source: proto/openapi/v2. */
export const encodeOpenApiV2 = (value: object): Buffer => encodeDocument(value, document);
