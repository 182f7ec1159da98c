// SPDX-License-Identifier: Apache-2.0
// What `gemm64 dut prove` shows of a user's array: for all operands, every sum of the first tiles after a reset is the one
// of the definition. Yosys reads this module with the array, proof.py decides. No stream stalls, so that only data are
// unknown. GEMM64_DUT_TOP, the widths and the ports that exist come from a file of defines.
`include "proof_config.vh"
`default_nettype none

module gemm64_dut_proof (
    input wire                        aclk,
    // Any value in each cycle: what is on a stream while its TVALID is low
    input wire [`WEIGHT_BITS-1:0]     any_weights,
    input wire [`ACTIVATION_BITS-1:0] any_activations,
    input wire [`SUM_BITS-1:0]        any_sums,
    input wire [2:0]                  any_lasts
);

    localparam WEIGHTS     = `TILES * `WEIGHT_BEATS;
    localparam ACTIVATIONS = `TILES * `ACTIVATION_BEATS;
    localparam RESULTS     = `TILES * `RESULT_BEATS;
    localparam WW = `WEIGHT_LANES * `WEIGHT_WIDTH;          // values of a beat
    localparam AW = `ACTIVATION_LANES * `ACTIVATION_WIDTH;
    localparam SW = `COLUMNS * `SUM_WIDTH;

    // The operands: any values, the same in all cycles.
    (* anyconst, keep *) reg [WW*WEIGHTS-1:0]     operand_weights;
    (* anyconst, keep *) reg [AW*ACTIVATIONS-1:0] operand_activations;
    (* anyconst, keep *) reg [SW*RESULTS-1:0]     operand_sums;

    reg [15:0] cycle = 0, weight = 0, activation = 0, sum = 0, owed = 0;
    (* keep *) reg [15:0] result = 0;
    reg [1:0] phase = 0, ends = 0;

    // As the other benches: if an input has no backpressure, one tile at a time.
    wire aresetn = cycle >= `RESET_CYCLES;
    wire weights_allowed     = !`ONE_TILE || (`WEIGHTS_MOVE ? phase == 1 : phase == 0 && !ends[0]);
    wire activations_allowed = !`ONE_TILE || (`TOGETHER ? phase == 0 && !ends[1] : `WEIGHTS_MOVE ? phase == 0 : phase == 1);
    wire sums_allowed        = !`ONE_TILE || `TOGETHER || phase == 1;

    wire weights_tvalid     = aresetn && weight < WEIGHTS && weights_allowed;
    wire activations_tvalid = aresetn && activation < ACTIVATIONS && activations_allowed;
    wire sums_tvalid        = aresetn && sum < RESULTS && sums_allowed && `HAVE_SUMS;
    wire weights_tlast      = weights_tvalid ? weight % `WEIGHT_BEATS == `WEIGHT_BEATS - 1 : any_lasts[0];
    wire activations_tlast  = activations_tvalid ? activation % `ACTIVATION_BEATS == `ACTIVATION_BEATS - 1 : any_lasts[1];
    wire sums_tlast         = sums_tvalid ? sum % `RESULT_BEATS == `RESULT_BEATS - 1 : any_lasts[2];
    reg  [`WEIGHT_BITS-1:0]     weights_tdata;
    reg  [`ACTIVATION_BITS-1:0] activations_tdata;
    reg  [`SUM_BITS-1:0]        sums_tdata;
    always @* begin
        weights_tdata     = any_weights;
        activations_tdata = any_activations;
        sums_tdata        = any_sums;
        if (weights_tvalid)     weights_tdata     = operand_weights[weight*WW +: WW];
        if (activations_tvalid) activations_tdata = operand_activations[activation*AW +: AW];
        if (sums_tvalid)        sums_tdata        = operand_sums[sum*SW +: SW];
    end

    wire weights_tready, activations_tready, sums_tready;
    wire [`RESULT_BITS-1:0] results_tdata;
    wire results_tvalid, results_tlast;
    wire results_tready = 1'b1;

    `GEMM64_DUT_TOP dut (
        .aclk (aclk), .aresetn (aresetn),
        .s_axis_weights_tdata (weights_tdata), .s_axis_weights_tvalid (weights_tvalid),
        .s_axis_weights_tlast (weights_tlast),
        .s_axis_activations_tdata (activations_tdata), .s_axis_activations_tvalid (activations_tvalid),
        .s_axis_activations_tlast (activations_tlast),
        `GEMM64_DUT_PORTS
        .m_axis_results_tdata (results_tdata), .m_axis_results_tvalid (results_tvalid)
    );

    wire weight_moves     = weights_tvalid && (!`WEIGHTS_WAIT || weights_tready);
    wire activation_moves = activations_tvalid && (!`ACTIVATIONS_WAIT || activations_tready);
    wire sum_moves        = sums_tvalid && (!`SUMS_WAIT || sums_tready);
    wire result_moves     = aresetn && results_tvalid;

    // Results that the beats so far lead to, as the other benches count them.
    wire [15:0] owing = `TOGETHER ? (activation_moves && activations_tlast ? `RESULT_BEATS : 0)
                                  : (`WEIGHTS_MOVE ? weight_moves : activation_moves);
    wire [1:0] ending  = ends | {activation_moves && activations_tlast, weight_moves && weights_tlast};
    wire [1:0] reached = phase == 0 && (`TOGETHER ? &ending : `WEIGHTS_MOVE ? ending[1] : ending[0]) ? (`TOGETHER ? 2 : 1)
                       : phase == 1 && &ending ? 2 : phase;
    wire complete = reached == 2 && owed + owing == result_moves;
    always @(posedge aclk) begin
        cycle      <= cycle + 1;
        weight     <= weight + weight_moves;
        activation <= activation + activation_moves;
        sum        <= sum + sum_moves;
        result     <= result + result_moves;
        owed       <= owed + owing - result_moves;
        phase      <= complete ? 0 : reached;
        ends       <= complete ? 0 : ending;
    end

    // The definition.
    function signed [`EXACT_WIDTH-1:0] clipped(input signed [`EXACT_WIDTH-1:0] x);
        clipped = !`SATURATES_EACH ? x : x > $signed(`SUM_HIGH) ? `SUM_HIGH : x < $signed(`SUM_LOW) ? `SUM_LOW : x;
    endfunction
    wire [SW*RESULTS-1:0] expected;
    genvar t, b, c, k;
    generate for (t = 0; t < `TILES; t = t + 1) begin : g_tile
        for (b = 0; b < `RESULT_BEATS; b = b + 1) begin : g_beat
            for (c = 0; c < `COLUMNS; c = c + 1) begin : g_column
                localparam AT = (t*`RESULT_BEATS + b)*SW + c*`SUM_WIDTH;
                wire signed [`SUM_WIDTH:0] start =
                    `HAVE_SUMS ? {`SUMS_SIGNED ? operand_sums[AT + `SUM_WIDTH - 1] : 1'b0, operand_sums[AT +: `SUM_WIDTH]} : 0;
                wire signed [`EXACT_WIDTH-1:0] part [0:`DEPTH];
                assign part[0] = start;
                for (k = 0; k < `DEPTH; k = k + 1) begin : g_product
                    localparam W = (t*`WEIGHT_BEATS + (`WEIGHTS_MOVE ? b : k))*WW
                                 + (`WEIGHTS_MOVE ? k : c)*`WEIGHT_WIDTH;
                    localparam A = (t*`ACTIVATION_BEATS + (`TOGETHER || `WEIGHTS_MOVE ? k : b))*AW
                                 + (`TOGETHER ? b : `WEIGHTS_MOVE ? c : k)*`ACTIVATION_WIDTH;
                    wire signed [`WEIGHT_WIDTH:0] w =
                        {`WEIGHTS_SIGNED ? operand_weights[W + `WEIGHT_WIDTH - 1] : 1'b0, operand_weights[W +: `WEIGHT_WIDTH]};
                    wire signed [`ACTIVATION_WIDTH:0] a =
                        {`ACTIVATIONS_SIGNED ? operand_activations[A + `ACTIVATION_WIDTH - 1] : 1'b0,
                         operand_activations[A +: `ACTIVATION_WIDTH]};
                    wire signed [`EXACT_WIDTH-1:0] full = w * a;
                    wire signed [`EXACT_WIDTH-1:0] product = (full + `ROUNDING) >>> `PRODUCT_SHIFT;
                    assign part[k+1] = clipped(part[k] + clipped(product));
                end
                wire signed [`EXACT_WIDTH-1:0] exact = part[`DEPTH];
                assign expected[AT +: `SUM_WIDTH] = !`SATURATES ? exact
                    : exact > $signed(`SUM_HIGH) ? `SUM_HIGH : exact < $signed(`SUM_LOW) ? `SUM_LOW : exact;
            end
        end
    end endgenerate

    // In this cycle.
    (* keep *) wire [SW-1:0] expected_row = expected[result*SW +: SW];
    (* keep *) wire [SW-1:0] result_row = results_tdata;
    (* keep *) wire extra   = result_moves && (result >= RESULTS || owed + owing == 0);
    (* keep *) wire value   = result_moves && !extra && result_row != expected_row;
    (* keep *) wire last    = result_moves && !extra && `HAVE_TLAST
                              && results_tlast != (result % `RESULT_BEATS == `RESULT_BEATS - 1);
    (* keep *) wire missing = cycle == `LAST_CYCLE && result + result_moves < RESULTS;
    always @* assert (!extra && !value && !last && !missing);

endmodule

`default_nettype wire
